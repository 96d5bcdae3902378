import { describe, expect, test } from 'vitest';
import { type AskedSettings, readSettings, reviewRights } from '../../src/harness/codex-rights.ts';

const readOnly = { type: 'readOnly', networkAccess: false };
const workspace = { type: 'workspaceWrite', writableRoots: ['/w'], networkAccess: true };
const full = { type: 'dangerFullAccess' };

function review(asked: AskedSettings, wire: { sandbox: object; approvalPolicy: string | object }) {
  const settings = { model: 'm', effort: 'low', cwd: '/w', ...wire };
  return reviewRights(asked, readSettings(settings as Parameters<typeof readSettings>[0]));
}

describe('rights read back from a thread', () => {
  const asked: AskedSettings = { sandbox: 'read-only', approval: 'never' };

  test('as asked need no repair', () => {
    const result = review(asked, { sandbox: readOnly, approvalPolicy: 'never' });
    expect(result).toEqual({ hasDifferences: false, tooWide: null, repair: {} });
  });

  test('of a turnless thread after a restart are too wide, and the repair names both fields', () => {
    const result = review(asked, { sandbox: workspace, approvalPolicy: 'on-request' });
    expect(result.tooWide).toBe('its sandbox is workspace-write and read-only was asked for');
    expect(result.repair).toEqual({ sandboxPolicy: readOnly, approvalPolicy: 'never' });
  });

  test('are too wide with the network open in a read-only sandbox', () => {
    const result = review(asked, {
      sandbox: { type: 'readOnly', networkAccess: true },
      approvalPolicy: 'never',
    });
    expect(result.tooWide).toBe('its sandbox is read-only with network access and read-only was asked for');
    expect(result.repair).toEqual({ sandboxPolicy: readOnly });
  });

  test('are too wide in a sandbox that is not Codex’s, or has a name we do not know', () => {
    for (const type of ['externalSandbox', 'somethingNew']) {
      const result = review(
        { ...asked, sandbox: 'workspace-write' },
        { sandbox: { type }, approvalPolicy: 'never' },
      );
      expect(result.tooWide).toContain('danger-full-access');
    }
  });

  test('that are narrower are put right but stop nothing', () => {
    const result = review(
      { ...asked, sandbox: 'workspace-write' },
      { sandbox: readOnly, approvalPolicy: 'never' },
    );
    expect(result).toMatchObject({ hasDifferences: true, tooWide: null });
    expect(result.repair.sandboxPolicy).toMatchObject({ type: 'workspaceWrite', networkAccess: false });
  });

  test('leave the roots and the network of a workspace sandbox to the person’s config', () => {
    const result = review(
      { ...asked, sandbox: 'workspace-write' },
      { sandbox: workspace, approvalPolicy: 'never' },
    );
    expect(result.hasDifferences).toBe(false);
  });

  test.each([
    ['never', 'on-request', readOnly, true],
    ['never', 'untrusted', readOnly, true],
    ['never', { granular: {} }, readOnly, true],
    ['on-request', 'untrusted', readOnly, false],
    ['on-request', 'never', readOnly, false],
    ['on-request', 'never', full, true],
    ['untrusted', 'on-request', readOnly, true],
    ['untrusted', 'never', readOnly, true],
  ] as const)(
    'asked for approval %s and reported as %j: too wide is %s',
    (approval, reported, sandbox, isTooWide) => {
      const mode = sandbox === full ? 'danger-full-access' : 'read-only';
      const result = review({ sandbox: mode, approval }, { sandbox, approvalPolicy: reported });
      expect(result.tooWide !== null).toBe(isTooWide);
      expect(result.repair.approvalPolicy).toBe(approval);
    },
  );

  test('include model, effort and folder only when they were asked for', () => {
    const reported = { sandbox: readOnly, approvalPolicy: 'never' };
    expect(review({ ...asked, model: 'm', effort: 'low', cwd: '/w' }, reported).hasDifferences).toBe(false);
    expect(review({ ...asked, model: 'x', effort: 'high', cwd: '/v' }, reported)).toEqual({
      hasDifferences: true,
      tooWide: null,
      repair: { model: 'x', effort: 'high', cwd: '/v' },
    });
  });
});
