type Notice = { kind: string; text: string };

/** The message that a response sets for the next page. */
export function noticeOf(answer: Response): Notice | undefined {
  for (const set of answer.headers.getSetCookie()) {
    const [, value] = /^(?:__Host-askback-notice|askback_notice)=([^;]+)/.exec(set) ?? [];
    if (value) return JSON.parse(Buffer.from(value, 'base64url').toString()) as Notice;
  }
  return undefined;
}
