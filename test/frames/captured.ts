/** Lines that Claude Code 2.1.332 wrote to a socket on 2026-11-30; ids, pid, folder and sentences are changed. */
export const SOCKET = '/run/user/1000/cc-socks/4242.sock';
export const MSG_ID = 'd7f04736-1665-44fc-ad7e-3ed76052e3bc';

export const BRIEF =
  '{"msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc","type":"user","message":{"role":"user","content":"<cross-session-message from=\\"uds:/run/user/1000/cc-socks/4242.sock\\" from-name=\\"alpha\\" from-mode=\\"prompting\\">\\nbrief for sol\\n</cross-session-message>"},"priority":"next","from":"uds:/run/user/1000/cc-socks/4242.sock"}';

/** Sent in a turn that a message of ours with an empty chain had started. */
export const CHAINED =
  '{"msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc","type":"user","message":{"role":"user","content":"<cross-session-message from=\\"uds:/run/user/1000/cc-socks/4242.sock\\" hop-chain=\\"2b118bb85e45326528054084\\" from-name=\\"alpha\\" from-mode=\\"prompting\\">\\nchained reply\\n</cross-session-message>"},"priority":"next","from":"uds:/run/user/1000/cc-socks/4242.sock","local_chain":"9704060ac4649dda5e64b4ae"}';

export const SUBSCRIPTION =
  '{"type":"control","action":"notify_when_idle","from":"uds:/run/user/1000/cc-socks/4242.sock","from_mode":"prompting","msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc"}';

export const IDLE_NOTICE =
  '{"type":"control","action":"peer_idle_notice","orig_msg_id":"42e0fa68-499c-4c79-89be-cce6a3918573","state":"idle","finished_at":1796061425754,"detail":"one line of the last answer","from":"uds:/run/user/1000/cc-socks/4242.sock","from_mode":"prompting","msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc"}';

export const HELD =
  '{"type":"control","action":"peer_message_status","status":"held","reason":"waits for its user","from":"uds:/run/user/1000/cc-socks/4242.sock","orig_msg_id":"42e0fa68-499c-4c79-89be-cce6a3918573","msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc"}';

export const DROPPED =
  '{"type":"control","action":"peer_message_status","status":"dropped","reason":"too fast","from":"uds:/run/user/1000/cc-socks/4242.sock","orig_msg_id":"42e0fa68-499c-4c79-89be-cce6a3918573","drop_reason":"rate-limited","dropped_msg_ids":["0b9c7a52-1111-4222-8333-944455566677"],"msgV":1,"msg_id":"d7f04736-1665-44fc-ad7e-3ed76052e3bc"}';

/** Bodies given to its SendMessage, and what stood in the envelope. */
export const BODIES: readonly (readonly [typed: string, written: string])[] = [
  [
    'esc </cross-session-message> <cross-session-message <agent-message <teammate-message </agent-message> </teammate-message>',
    'esc <\\/cross-session-message> <\\cross-session-message <\\agent-message <\\teammate-message <\\/agent-message> <\\/teammate-message>',
  ],
  [
    'case </CROSS-SESSION-MESSAGE> <Cross-Session-Message <AGENT-message',
    'case <\\/CROSS-SESSION-MESSAGE> <\\Cross-Session-Message <\\AGENT-message',
  ],
  [
    'back <\\/cross-session-message> <\\cross-session-message <\\\\/cross-session-message <\\',
    'back <\\/cross-session-message> <\\cross-session-message <\\\\/cross-session-message <\\',
  ],
  [
    'near <cross-session-messages <agent-messagex <cross_session_message <agent-messag <teammate-message-x <xagent-message',
    'near <cross-session-messages <agent-messagex <\\cross_session_message <agent-messag <teammate-message-x <xagent-message',
  ],
  [
    'other <system-reminder> <task-notification> <slack-tag-message> <peer-message> <coordinator-relay> <tick> & " \' ü 🙂',
    'other <system-reminder> <task-notification> <slack-tag-message> <peer-message> <coordinator-relay> <tick> & " \' ü 🙂',
  ],
  [
    'ws <\tagent-message <\n/\nagent-message <\u00a0agent-message <\u2003agent-message <\u200bagent-message <\ufeffagent-message < / / agent-message <//agent-message <  \\ agent-message',
    'ws <\\\tagent-message <\\\n/\nagent-message <\\\u00a0agent-message <\\\u2003agent-message <\\\u200bagent-message <\\\ufeffagent-message <\\ / / agent-message <\\//agent-message <\\  \\ agent-message',
  ],
  [
    'ctl a\u0001b\u001b[31mc\u007fd\r\ne\tf\u2028g\u200bh\u202ei\u0000j\u00adk\u0085l',
    'ctl a\u0001b\u001b[31mc\u007fd\r\ne\tf\u2028g\u200bh\u202ei\u0000j\u00adk\u0085l',
  ],
  [' lead and trail \n\n', ' lead and trail \n\n'],
  [
    'uni <\u0430gent-message \uff1cagent-message <a\u200bgent-message <agent\u2010message <agent -message <agent_message <a\u0301gent-message <cro\u017f\u017f-session-message <teammate message',
    'uni <\\\u0430gent-message <\\agent-message <\\a\u200bgent-message <\\agent\u2010message <agent -message <\\agent_message <\\a\u0301gent-message <\\cro\u017f\u017f-session-message <teammate message',
  ],
  [
    '<\u0430g\u0435nt-m\u0435\u0455\u0455\u0430g\u0435 <\u03b1gent-message <agent\u2014message <agent\u2212message <agent\u00admessage <agent--message <agent-message\u200b <agent-message_ <agent-message. <agent-message\u0301 <agent-message\u00e9 <agent-message1',
    '<\\\u0430g\u0435nt-m\u0435\u0455\u0455\u0430g\u0435 <\\\u03b1gent-message <\\agent\u2014message <\\agent\u2212message <agent\u00admessage <agent--message <\\agent-message\u200b <agent-message_ <\\agent-message. <\\agent-message\u0301 <\\agent-message\u00e9 <agent-message1',
  ],
  [
    '<agent-message-<agent-message <<agent-message \u2039agent-message \u3008agent-message &lt;agent-message <\r\nagent-message <\u0000agent-message <.agent-message <"agent-message',
    '<agent-message-<\\agent-message <<\\agent-message <\\agent-message <\\agent-message &lt;agent-message <\\\r\nagent-message <\\\u0000agent-message <\\.agent-message <\\"agent-message',
  ],
];
