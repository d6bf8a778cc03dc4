import { Tick } from '../web/app/fields.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';
import type { NotificationContents } from './facts.queries.ts';

type ContentsPartProps = { form: FormState; action: string; contents: NotificationContents };

/** For owners: what mails and posts may show of a response. */
export const ContentsPart = ({ form, action, contents }: ContentsPartProps) => (
  <Part id="contents" title="What notifications show">
    <p class="small soft">
      Of a response: its survey and score, and an excerpt of its comment without names and
      addresses. This holds for mails and the webhook.
    </p>
    <form method="post" action={action} class="fields narrow">
      <Tick
        name="people"
        label="Name the contact, with its address"
        form={form}
        checked={contents.people}
      />
      <Tick
        name="unedited"
        label="Show comments as they were written"
        form={form}
        checked={contents.unedited}
      />
      <div class="actions">
        <button type="submit">Save what they show</button>
      </div>
    </form>
  </Part>
);
