import { toSentence } from '../errors.ts';
import { type Counted, formatValue, measure, type SurveyType, totalOf } from '../survey-types.ts';
import { FormErrors, Notice, Part, State } from '../web/app/badges.tsx';
import { Bar } from '../web/app/drawings.tsx';
import { type FormState, LinkButton } from '../web/app/forms.tsx';
import { count, counted, DataTable, Live } from '../web/app/lists.tsx';
import { countUnderstood, type FileCounts, noneImported, sumCounts } from './import.ts';
import type { Import, ImportFile, Months } from './queries.ts';
import { passedFor } from './report.ts';
import { type FileKind, fileKinds, type PassReason } from './rows.ts';

type PageProps = {
  row: Import;
  files: readonly ImportFile[];
  form: FormState;
  here: string;
  /** Path of the list of imports. */
  list: string;
  surveys: string;
};

const liveSeconds = 2;

export function ImportPage({ row, files, form, here, list, surveys }: PageProps) {
  const { status } = row;
  const isBusy = status === 'checking' || status === 'importing';
  return (
    <Live id="import" says="" every={isBusy ? liveSeconds : undefined} path={here}>
      <FormErrors form={form} />
      <Standing row={row} files={files} here={here} list={list} surveys={surveys} />
      {status === 'checking' ? null : (
        <>
          <FilesPart row={row} files={files} here={here} />
          {files.map((file) => (file.counts ? <FilePart file={file} /> : null))}
          <MonthsPart row={row} files={files} />
        </>
      )}
    </Live>
  );
}

function Standing({ row, files, here, list, surveys }: Omit<PageProps, 'form'>) {
  const { status } = row;
  const toDelete = (
    <LinkButton
      href={`${here}/delete`}
      text={status === 'importing' ? 'Stop' : 'Delete'}
      kind="quiet"
    />
  );
  if (status === 'checking') {
    return (
      <Part id="standing" title="Reading the files">
        <p role="status" aria-busy="true">
          This takes a few seconds per 10,000 rows. <a href={here}>Refresh</a>
        </p>
        <div class="acts">{toDelete}</div>
      </Part>
    );
  }
  if (status === 'importing') {
    const total = sum(files, ({ counts }) => (counts ? countUnderstood(counts) : 0));
    const done = sum(files, (file) => file.done);
    return (
      <Part id="standing" title="Importing">
        <p role="status">
          <strong>
            {count(done)} of {counted(total, 'row')} imported.
          </strong>{' '}
          You can close this page; the import continues. <a href={here}>Refresh</a>
        </p>
        <Bar part={done} whole={total} />
        <div class="acts">{toDelete}</div>
      </Part>
    );
  }
  const survey = row.survey_id ? `${surveys}/${row.survey_id}` : undefined;
  if (status === 'finished') {
    return (
      <Part id="standing" title="Imported">
        <Notice kind="fine" text={resultText(files)} />
        <div class="acts">
          {survey ? <LinkButton href={survey} text="View survey" kind="primary" /> : null}
          <LinkButton href={list} text="Import more files" kind="quiet" />
          {toDelete}
        </div>
      </Part>
    );
  }
  const usable = files.filter(({ counts }) => counts !== null);
  return (
    <Part id="standing" title={status === 'failed' ? 'Import stopped' : 'Check before you import'}>
      {status === 'failed' ? (
        <Notice
          kind="failed"
          text={`${toSentence(row.reason ?? 'unknown reason')} Imported rows stay. Continue imports the rest.`}
        />
      ) : null}
      <p>
        {usable.length === 0
          ? 'None of these files can be imported.'
          : `Imports into ${row.survey_name ?? 'a new draft survey'}. Rows that the survey already has are skipped. Nobody is emailed.`}
      </p>
      <div class="acts">
        {usable.length === 0 ? null : (
          <form method="post" action={here}>
            <button type="submit" class="primary">
              {status === 'failed' ? 'Continue' : 'Import'}
            </button>
          </form>
        )}
        {toDelete}
      </div>
    </Part>
  );
}

const sum = <T,>(items: readonly T[], value: (item: T) => number) =>
  items.reduce((total, item) => total + value(item), 0);

function resultText(files: readonly ImportFile[]) {
  const imported = files
    .map((file) => file.imported ?? noneImported)
    .reduce(sumCounts, noneImported);
  const parts = [
    counted(imported.responses, 'response'),
    ...(imported.contacts ? [`${counted(imported.contacts, 'contact')} to ask`] : []),
    ...(imported.unsubscribed ? [`${counted(imported.unsubscribed, 'unsubscribe')}`] : []),
    ...(imported.bounced
      ? [`${counted(imported.bounced, 'bounced address', 'bounced addresses')}`]
      : []),
  ];
  return `New: ${parts.join(', ')}.`;
}

const kindNames: Readonly<Record<FileKind, string>> = {
  responses: 'Responses',
  people: 'People',
  unsubscribed: 'Unsubscribes',
  bounced: 'Bounces',
};

function FilesPart({ row, files, here }: Pick<PageProps, 'row' | 'files' | 'here'>) {
  const mayChoose = row.status === 'checked';
  const refused = files.filter(({ reason }) => reason);
  const table = (
    <>
      <DataTable
        caption="Row counts by file"
        columns={[
          { head: 'File' },
          { head: 'Contains', phone: mayChoose ? 'line' : 'beside' },
          { head: 'Rows', number: true, phone: 'absent' },
          { head: row.status === 'checked' ? 'To import' : 'Imported', number: true },
          { head: 'Skipped', number: true },
          { head: 'Invalid', number: true },
        ]}
        rows={files.map((file) => ({ cells: cellsOf(file, mayChoose) }))}
      />
      {refused.map(({ name, reason }) => (
        <p class="sub">
          <bdi>{name}</bdi>: {toSentence(reason!)}
        </p>
      ))}
    </>
  );
  return (
    <Part id="files" title="Files">
      {mayChoose ? (
        <form method="post" action={`${here}/kinds`}>
          {table}
          <div class="acts gap">
            <button type="submit">Check again</button>
          </div>
        </form>
      ) : (
        table
      )}
    </Part>
  );
}

/** A list of people may contain only unsubscribes, or only bounces. */
function kindOfRows(kind: FileKind, { people, unsubscribed, bounced }: FileCounts): FileKind {
  if (kind !== 'people' || people > 0 || (unsubscribed > 0 && bounced > 0)) return kind;
  return unsubscribed > 0 ? 'unsubscribed' : bounced > 0 ? 'bounced' : kind;
}

/** The remaining rows existed before, or belong to erased people. */
const newRows = (of: NonNullable<ImportFile['imported']>) =>
  of.responses + of.contacts + of.unsubscribed + of.bounced;

function cellsOf(
  { place, name, kind, plan, counts, reason, done, imported }: ImportFile,
  mayChoose: boolean,
) {
  const contains = plan ? kindNames[counts ? kindOfRows(plan.kind, counts) : plan.kind] : '';
  const skipped = counts ? sum(Object.values(counts.passed), (each) => each ?? 0) : 0;
  return [
    <>
      <bdi>{name}</bdi>
      {reason ? (
        <span class="block">
          <State kind="failed">Cannot be imported</State>
        </span>
      ) : null}
    </>,
    mayChoose ? (
      <span class="select">
        <select name={`kind_${place}`} aria-label={`Contents of ${name}`}>
          <option value="">{plan && !kind ? `${contains} (detected)` : 'Detect'}</option>
          {fileKinds.map((value) => (
            <option value={value} selected={value === kind}>
              {kindNames[value]}
            </option>
          ))}
        </select>
      </span>
    ) : (
      contains
    ),
    counts ? count(counts.rows) : '',
    counts ? count(imported ? newRows(imported) : countUnderstood(counts)) : '',
    counts ? count(imported ? skipped + done - newRows(imported) : skipped) : '',
    counts ? count(counts.unclear) : '',
  ];
}

function FilePart({ file }: { file: ImportFile }) {
  const { place, name, plan, counts, imported, done } = file;
  if (!plan || !counts) return null;
  const types = counts.otherTypes.length > 0 ? ` (${counts.otherTypes.join(', ')})` : '';
  const known = imported ? done - newRows(imported) - imported.erased : 0;
  const skipped: (readonly [string, number])[] = [
    ...(Object.entries(counts.passed) as [PassReason, number][]).map(
      ([reason, rows]) =>
        [`skipped: ${passedFor[reason]}${reason === 'other type' ? types : ''}`, rows] as const,
    ),
    ['skipped: of erased people', imported?.erased ?? 0] as const,
    [
      plan.kind === 'people' ? 'merged into existing contacts' : 'skipped: imported before',
      known,
    ] as const,
  ].filter(([, rows]) => rows > 0);
  return (
    <Part id={`file-${place}`} title={name}>
      {skipped.length === 0 ? null : (
        <ul>
          {skipped.map(([reason, rows]) => (
            <li>
              {counted(rows, 'row')} {reason}
            </li>
          ))}
        </ul>
      )}
      {counts.shown.length === 0 ? null : (
        <DataTable
          caption={`Invalid rows of ${name}`}
          showCaption
          columns={['Row', { head: 'Reason', phone: 'line' }]}
          rows={counts.shown.map(({ line, column, complaint }) => ({
            cells: [
              <>
                Line {count(line)} · <bdi>{column}</bdi>
              </>,
              toSentence(complaint),
            ],
          }))}
        />
      )}
      {counts.unclear > counts.shown.length ? (
        <p class="sub">and {counted(counts.unclear - counts.shown.length, 'more row')}</p>
      ) : null}
      <details class="reveal">
        <summary>Columns</summary>
        <DataTable
          caption={`Columns of ${name}`}
          columns={['Column', 'Used as']}
          rows={plan.columns.map((column) => ({
            cells: [<bdi>{column.name || '(no name)'}</bdi>, column.use],
          }))}
        />
      </details>
    </Part>
  );
}

function MonthsPart({ row, files }: Pick<PageProps, 'row' | 'files'>) {
  const inFiles = monthsOfFiles(files);
  const isOver = row.status === 'finished';
  const inSurvey = row.after ?? {};
  const months = [...new Set([...Object.keys(inFiles), ...Object.keys(inSurvey)])].sort().reverse();
  if (Object.keys(inFiles).length === 0) return null;
  const type = row.type ?? 'nps';
  const missing = sum(months, (month) =>
    Math.max(0, totalOf(inFiles[month] ?? none) - totalOf(inSurvey[month] ?? none)),
  );
  const isLeftOut = missing <= sum(files, ({ imported }) => imported?.erased ?? 0);
  const cells = (name: string, file: Counted, survey: Counted) => [
    name,
    ...figuresOf(type, file),
    ...(isOver
      ? [...figuresOf(type, survey), <Match file={file} survey={survey} isLeftOut={isLeftOut} />]
      : []),
  ];
  return (
    <Part id="months" title={isOver ? 'Files and survey compared' : 'Responses by month'}>
      <DataTable
        caption="Responses and score by month, in the files and in the survey"
        nowrap
        columns={[
          { head: 'Month' },
          { head: 'In the files', number: true, before: 'Files ' },
          { head: 'Score', number: true, before: '' },
          ...(isOver
            ? [
                { head: 'In the survey', number: true, before: 'Survey ' },
                { head: 'Score', number: true, before: '' },
                { head: 'Result', phone: 'beside' as const },
              ]
            : []),
        ]}
        rows={[
          { cells: cells('All', totalOfMonths(inFiles), totalOfMonths(inSurvey)) },
          ...months.map((month) => ({
            cells: cells(monthName(month), inFiles[month] ?? none, inSurvey[month] ?? none),
          })),
        ]}
      />
    </Part>
  );
}

const none: Counted = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };

function figuresOf(type: SurveyType, counted: Counted) {
  const { total, value } = measure(type, counted, null);
  return [count(total), value === null ? '–' : formatValue(type, value)];
}

type MatchProps = Record<'file' | 'survey', Counted> & { isLeftOut: boolean };

/** Rows of erased people are left out on purpose. */
function Match({ file, survey, isLeftOut }: MatchProps) {
  const more = totalOf(survey) - totalOf(file);
  if (more < 0 && isLeftOut) return <State kind="skipped">{count(-more)} left out</State>;
  if (more < 0) return <State kind="warning">{count(-more)} missing</State>;
  if (more > 0) return <State kind="skipped">{count(more)} more from elsewhere</State>;
  return file.score_sum === survey.score_sum ? (
    <State kind="fine">Equal</State>
  ) : (
    <State kind="failed">Different scores</State>
  );
}

const monthFormat = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const monthName = (month: string) => monthFormat.format(new Date(`${month}-01T00:00:00Z`));

const totalOfMonths = (months: Months) => Object.values(months).reduce(sumCounts<Counted>, none);

function monthsOfFiles(files: readonly ImportFile[]): Months {
  const months: Record<string, Counted> = {};
  for (const { counts } of files) {
    for (const [month, counted] of Object.entries(counts?.months ?? {})) {
      months[month] = sumCounts(months[month] ?? none, counted);
    }
  }
  return months;
}
