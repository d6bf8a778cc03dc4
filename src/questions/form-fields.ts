import type { FormState } from '../web/app/forms.tsx';

type Fields = FormState['typed'];

/** Fields of the questions in the survey form, as `questions.1.text`, numbered from 1. */
const fieldName = /^questions\.(\d+)\.(.+)$/;

/** The fields of each question, without their prefix. */
export function questionFields(fields: Fields): Fields[] {
  const byNumber = new Map<number, Record<string, string | string[]>>();
  for (const [name, value] of Object.entries(fields)) {
    const [, number, field] = fieldName.exec(name) ?? [];
    if (field === undefined) continue;
    const own = byNumber.get(Number(number)) ?? {};
    own[field] = value;
    byNumber.set(Number(number), own);
  }
  return [...byNumber].sort(([one], [other]) => one - other).map(([, own]) => own);
}

/** The questions as the API accepts them. Options without a label are dropped. */
export function questionsOf(fields: Fields) {
  return questionFields(fields).map((own) => {
    const text = (name: string) => [own[name] ?? ''].flat()[0]?.trim() || null;
    const isTicked = (name: string) => ['true', 'on'].includes(text(name) ?? '');
    const id = text('id') ?? undefined;
    if (id && isTicked('archived')) return { id, archived: true };
    const kind = text('kind') ?? undefined;
    const hasOptions = kind === 'choice' || kind === 'choices';
    const options = optionNumbers(own).flatMap((at) => {
      const label = text(`options.${at}.label`);
      return label === null ? [] : [{ id: text(`options.${at}.id`), label }];
    });
    const categories = [own['categories'] ?? []].flat();
    return {
      id,
      kind,
      text: text('text') ?? '',
      required: isTicked('required'),
      categories: categories.length === 0 || categories.length === 3 ? null : categories,
      ...(kind === 'scale' && {
        min: toNumber(text('min')),
        max: toNumber(text('max')),
        min_label: text('min_label'),
        max_label: text('max_label'),
      }),
      ...(hasOptions && { options, allow_other: isTicked('allow_other') }),
      texts: textsOf(
        own,
        options.map((option) => option.id ?? ''),
      ),
    };
  });
}

export const optionNumbers = (own: Fields) =>
  Object.keys(own)
    .flatMap((name) => /^options\.(\d+)\.label$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other);

const toNumber = (text: string | null) =>
  text !== null && /^\d{1,3}$/.test(text) ? Number(text) : text;

function textsOf(own: Fields, optionIds: readonly string[]) {
  const texts: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(own)) {
    const [, tag, field, option] =
      /^texts\.([^.]+)\.(text|min_label|max_label|options)(?:\.(.+))?$/.exec(name) ?? [];
    const text = [value].flat()[0]?.trim();
    if (!tag || !field || !text) continue;
    const words = texts[tag] ?? {};
    texts[tag] = words;
    if (field !== 'options') words[field] = text;
    else if (option && optionIds.includes(option)) {
      words['options'] = { ...(words['options'] as object), [option]: text };
    }
  }
  return texts;
}

const kindsToAdd = ['text', 'scale', 'choice', 'choices'];

/** The form after a button of the editor has added, moved or removed a question. Undefined for any other button. */
export function changeQuestions(fields: Fields): Fields | undefined {
  const act = [fields['act'] ?? ''].flat()[0] ?? '';
  const [, verb, word = ''] =
    /^question-(add|up|down|remove|restore|options):(\w+)$/.exec(act) ?? [];
  if (verb === undefined) return undefined;
  const list = questionFields(fields);
  const at = Number(word) - 1;
  if (verb === 'add') {
    if (kindsToAdd.includes(word))
      list.push({ kind: word, ...(word === 'scale' && { min: '0', max: '10' }) });
  } else if (verb === 'remove') list.splice(at, 1);
  else if (verb === 'restore' && list[at]) list[at] = { ...list[at], archived: 'false' };
  else if (verb === 'up' || verb === 'down') {
    const [moved] = list.splice(at, 1);
    if (moved) list.splice(Math.max(0, verb === 'up' ? at - 1 : at + 1), 0, moved);
  }
  const others = Object.entries(fields).filter(([name]) => name !== 'act' && !fieldName.test(name));
  const numbered = list.flatMap((own, number) =>
    Object.entries(own).map(([name, value]) => [`questions.${number + 1}.${name}`, value] as const),
  );
  return Object.fromEntries([...others, ...numbered]);
}
