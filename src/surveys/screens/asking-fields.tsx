import { Choice, Field } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { reminderNumbers } from './form-fields.ts';

const days = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

/** When a survey asks by itself, reminds, and may send. */
export function AskingFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        name="ask_after_days"
        label="Ask by itself, so many days after a contact is added"
        form={form}
        inputmode="numeric"
        size="day"
        help="0 to 365. Empty: only when you send it."
      />
      {reminderNumbers.map((at) => (
        <div class="inline">
          <Field
            name={`reminders.${at}.after_days`}
            label={`Reminder ${at} after days`}
            form={form}
            inputmode="numeric"
            size="day"
          />
          <Field name={`reminders.${at}.subject`} label={`Subject of reminder ${at}`} form={form} />
        </div>
      ))}
      <Choice
        name="send_window.days"
        label="Days on which it may send"
        form={form}
        value={form.typed['send_window.days']}
        several
        options={Object.entries(days).map(([value, text]) => ({ value, text }))}
        help="For campaigns, reminders and mails by itself. Without a day: at any time."
      />
      <div class="inline">
        <Field name="send_window.from" label="From" form={form} value="09:00" size="day" />
        <Field name="send_window.to" label="To" form={form} value="17:00" size="day" />
        <Field
          name="send_window.time_zone"
          label="Time zone"
          form={form}
          value="UTC"
          help="Such as Europe/Berlin."
        />
      </div>
    </>
  );
}
