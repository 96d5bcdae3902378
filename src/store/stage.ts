/** How far a message has come. */
export interface Stage {
  readonly isClaimed: boolean;
  readonly isTaken: boolean;
  readonly isDecided: boolean;
  readonly isReplyClaimed: boolean;
  readonly isNoted: boolean;
  readonly isTold: boolean;
}

// The order of steps, the same for every record: each of these throws when the step cannot come now.

export function mustBeNew(id: string, stage: Stage | undefined): void {
  if (stage !== undefined) throw new Error(`message ${id} is recorded already`);
}

export function mustBeRecorded<Found extends Stage>(id: string, stage: Found | undefined): Found {
  if (stage === undefined) throw new Error(`message ${id} was never recorded`);
  return stage;
}

export function mustBeClaimable(id: string, stage: Stage): void {
  if (stage.isDecided) throw new Error(`message ${id} has its outcome already`);
  if (stage.isClaimed) throw new Error(`message ${id} is claimed already`);
}

export function mustBeUntaken(id: string, stage: Stage): void {
  if (stage.isTaken) throw new Error(`message ${id} was taken`);
}

export function mustBeDecided(id: string, stage: Stage): void {
  if (!stage.isDecided) throw new Error(`message ${id} has no outcome`);
}

/** Only what is half told is told of by a note, and once. */
export function mayBeNoted(stage: Stage): boolean {
  return stage.isReplyClaimed && !stage.isNoted && !stage.isTold;
}
