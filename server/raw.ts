/** An answer with a content type or headers of its own, which is sent as it is. */
import type { Reply } from './dispatch.ts';

export class Raw {
  readonly content_type: string;
  readonly body: Reply['body'];
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  constructor(content_type: string, body: Reply['body'], headers: Readonly<Record<string, string>> = {}, status = 200) {
    this.content_type = content_type;
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}
