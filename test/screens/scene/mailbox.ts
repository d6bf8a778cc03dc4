import type { Sql } from '../../../src/lib/db/db.ts';
import { ago, id } from './names.ts';

const both = `From: Larkspur <ask@larkspur.example>
To: Ada Marsh <ada@people.example>
Subject: =?utf-8?q?Sch=C3=B6n_=3C3?=
Date: Tue, 19 May 2026 10:00:00 +0000
Message-ID: <one@larkspur.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=part

--part
Content-Type: text/plain; charset=utf-8

How was it?
https://askback.test/s/one
--part
Content-Type: text/html; charset=utf-8

<p>How <b>was</b> it?</p>
--part--
`;

const text = `From: askback <askback@askback.test>
To: hana@larkspur.example
Subject: Set a new password
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Open the link.
`;

/** A mail in two forms, and one that is text alone. */
export async function addMailbox(sql: Sql) {
  const mails = [
    { from: 'ask@larkspur.example', to: 'ada@people.example', raw: both },
    { from: 'askback@askback.test', to: 'hana@larkspur.example', raw: text },
  ];
  for (const [at, { from, to, raw }] of mails.entries()) {
    await sql`insert into mailbox_messages ${sql({
      ...{ id: id(`mailed-${at + 1}`), mail_from: from, rcpt_to: to },
      ...{ subject: /Subject: (.*)/.exec(raw)![1]!, received_at: ago(at, 1) },
      raw: Buffer.from(raw.replaceAll('\n', '\r\n')),
    })}`;
  }
}
