import type { Message, Restored } from '../store/record.ts';
import { CLIENT_ID_PREFIX } from './reply-rule.ts';
import type { Claim } from './state.ts';

/** A message that nobody has handed over is run after reopening only when it is younger. */
export const RUN_WITHIN_MS = 60 * 60 * 1000;

/**
 * What an earlier wrapper of this thread left open, as claims of connection 0: each is looked for in the thread
 * before anything else is started. One that was never claimed is looked for as well, since the record itself may
 * have been restored from a copy; it is run only when its sender still waits.
 *
 * @param isWaiting whether the sender of a message would still read an answer
 */
export function restoredClaims(
  { claimed, unclaimed }: Pick<Restored, 'claimed' | 'unclaimed'>,
  isWaiting: (message: Message) => boolean,
  nowMs: number,
): Claim[] {
  const handedOver = claimed.map((one): Claim => {
    const claim = claimOf(one.message, 0);
    const { clientId, afterTurnId, turnId, isTaken } = one;
    return {
      ...claim,
      clientId: clientId ?? claim.clientId,
      afterTurnId: clientId === null ? claim.afterTurnId : afterTurnId,
      turnId,
      isTaken,
    };
  });
  const waiting = unclaimed.map((message): Claim => {
    const isWanted = nowMs - message.receivedAtMs < RUN_WITHIN_MS && isWaiting(message);
    return { ...claimOf(message, 0), ifAbsent: isWanted ? 'run' : 'expire' };
  });
  return [...handedOver, ...waiting].map((claim, seq) => ({ ...claim, waiting: { ...claim.waiting, seq } }));
}

function claimOf(message: Message, seq: number): Claim {
  const { id, priority, afterTurnId } = message;
  return {
    waiting: {
      id,
      priority,
      bytes: Buffer.byteLength(message.text),
      seq,
      isReturned: false,
      needsIdle: false,
      refusals: 0,
    },
    clientId: `${CLIENT_ID_PREFIX}${id}`,
    epoch: 0,
    afterTurnId,
    turnId: null,
    isTaken: false,
    absence: 'none',
  };
}
