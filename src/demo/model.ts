import { ResponseStream } from './response-stream.ts';
import { ResponsesServer } from './responses-server.ts';

/** A model that needs no account and no network: it says what `answer` makes of the user's last text. */
export function startDemoModel(answer: (text: string) => string): Promise<ResponsesServer> {
  return ResponsesServer.start(async (request, http) => {
    const stream = new ResponseStream(http, String(request.body.model));
    await stream.message(answer(request.text), { phase: 'final_answer' });
    stream.completed();
  });
}
