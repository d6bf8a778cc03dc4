import { Tick } from '../web/app/fields.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';
import type { NotificationContents } from './facts.queries.ts';
import { contentsTexts as texts } from './screen-texts.ts';

type ContentsPartProps = { form: FormState; action: string; contents: NotificationContents };

/** For owners: what mails and posts may show of a response. */
export const ContentsPart = ({ form, action, contents }: ContentsPartProps) => (
  <Part id="contents" title={texts.title}>
    <p class="small soft">{texts.about}</p>
    <form method="post" action={action} class="fields narrow">
      <Tick name="people" label={texts.people} form={form} checked={contents.people} />
      <Tick name="unedited" label={texts.unedited} form={form} checked={contents.unedited} />
      <div class="actions">
        <button type="submit">Save what they show</button>
      </div>
    </form>
  </Part>
);
