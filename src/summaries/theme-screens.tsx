import { type Context, Hono } from 'hono';
import { readChoice, SurveyChoice } from '../home/choice.tsx';
import { PeriodChoice } from '../home/parts.tsx';
import { ScoreRange, toneOf } from '../home/reasons.tsx';
import { type HomePeriod, scopeQuery } from '../home/rules.ts';
import { Categories, ChangeLead, describeChange, responsesOf } from '../home/score.tsx';
import type { Db } from '../lib/db/db.ts';
import { PropertyFilters } from '../responses/property-filters.tsx';
import { ResponseRow } from '../responses/response-row.tsx';
import type { ScreenEnv } from '../sessions/session.ts';
import {
  boundsOf,
  type Change,
  formatInterval,
  formatValue,
  percentage,
  type SurveyType,
  typeFacts,
} from '../survey-types.ts';
import { Part } from '../web/app/badges.tsx';
import { PartsBar, Scatter } from '../web/app/drawings.tsx';
import { LinkButton } from '../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, withQuery } from '../web/app/lists.tsx';
import { renderScreen } from '../web/app/screen.tsx';
import {
  countReadComments,
  listThemeQuotes,
  type MeasuredTheme,
  type ReadComments,
  readThemes,
  sampledResponses,
  type ThemeQuote,
} from './theme-figures.ts';

/** Routes below `/o/:slug/themes`. */
export const themeScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>().get('/', async (c) =>
    renderScreen(c, { title: 'Themes', section: 'themes', ...(await readScreen(db, c)) }),
  );

async function readScreen(db: Db, c: Context<ScreenEnv>) {
  const { id: orgId, slug } = c.var.organization;
  const { setting, scope, period, timeZone, form, inPeriod } = await readChoice(db, c);
  if (!scope) {
    return {
      body: (
        <EmptyState title="No comments yet" icon="layers">
          <p>Themes appear here when people answer a survey with a comment.</p>
        </EmptyState>
      ),
    };
  }
  const selection = { scope, period, timeZone };
  const asked = c.req.query('theme')?.toLowerCase() || null;
  const [read, themes] = await Promise.all([
    countReadComments(db, orgId, selection),
    readThemes(db, orgId, { ...selection, theme: asked }),
  ]);
  const chosen = themes.find(({ theme }) => theme === asked) ?? themes[0];
  const quotes = chosen
    ? await listThemeQuotes(db, orgId, { ...selection, theme: chosen.theme })
    : [];
  const home = `/o/${slug}`;
  const path = `${home}/themes`;
  const inScope = scopeQuery(scope);
  const asks = { ...inScope, ...inPeriod } as Record<string, string>;
  const inbox = { path: `${home}/responses`, scope: inScope, period };
  const linkTo = (filter: Record<string, string>) => responsesOf(inbox, filter);
  const { type } = scope;
  return {
    form,
    actions: (
      <>
        <SurveyChoice path={path} setting={setting} scope={scope} period={inPeriod} />
        <PeriodChoice path={path} period={period} form={form} scope={inScope} />
      </>
    ),
    body: (
      <>
        <PropertyFilters path={path} query={new URLSearchParams(asks)} />
        <ThemesBody
          home={home}
          asks={asks}
          linkTo={linkTo}
          period={period}
          type={type}
          read={read}
          themes={themes}
          chosen={chosen}
          quotes={quotes}
        />
      </>
    ),
  } as const;
}

type Props = {
  home: string;
  /** The survey, period and properties of this screen. */
  asks: Record<string, string>;
  /** The filtered inbox. */
  linkTo: (filter: Record<string, string>) => string;
  period: HomePeriod;
  type: SurveyType;
  read: ReadComments;
  themes: readonly MeasuredTheme[];
  chosen: MeasuredTheme | undefined;
  quotes: readonly ThemeQuote[];
};

function ThemesBody(props: Props) {
  const { read, home, chosen } = props;
  if (!read.isOn && read.analyzed === 0) {
    return (
      <EmptyState title="Comment analysis is off">
        <p>An owner can turn on Analyze comments to find themes and sentiment in new comments.</p>
        <LinkButton href={`${home}/settings/general`} text="General settings" />
      </EmptyState>
    );
  }
  if (read.comments === 0) {
    return (
      <EmptyState title="No comments in this period">
        <p>Choose a longer period, another survey or fewer properties.</p>
      </EmptyState>
    );
  }
  return (
    <>
      {chosen ? (
        <div class="grid main-side level">
          <ThemesMap {...props} />
          <ThemePart {...props} chosen={chosen} />
        </div>
      ) : null}
      <ReadPart {...props} />
      <ThemesTable {...props} />
    </>
  );
}

const sentimentParts = [
  { name: 'positive', text: 'Positive', tone: 'is-good' },
  { name: 'neutral', text: 'Neutral', tone: 'is-even' },
  { name: 'negative', text: 'Negative', tone: 'is-poor' },
  { name: 'mixed', text: 'Mixed', tone: 'is-warn' },
] as const;

const maxCircles = 12;

function ThemesMap({ themes, read, type }: Props) {
  const shown = themes.slice(0, maxCircles);
  const low = shown.filter(({ now }) => toneOf(type, now) === 'is-poor');
  return (
    <Part id="map" title="Score and mentions" sub={counted(read.comments, 'comment')}>
      <Scatter
        items={shown.map(({ theme, now }) => ({
          name: theme,
          value: now.value!,
          count: now.total,
          tone: toneOf(type, now),
        }))}
        bounds={boundsOf(type)}
        format={(value) => formatValue(type, value)}
        axis={typeFacts(type).shortNumber}
        label={`${shown[0]!.theme} is mentioned most. ${low.length === 0 ? 'No theme is clearly in the lower half.' : `In the lower half: ${low.map(({ theme }) => theme).join(', ')}.`}`}
      />
    </Part>
  );
}

/** Sentiment, and how many comments have no analysis or no theme. */
function ReadPart({ read, home, linkTo }: Props) {
  const { comments, analyzed, withoutTheme, sentiments, isOn } = read;
  const left = comments - analyzed;
  return (
    <Part id="sentiment" title="Sentiment" sub={counted(comments, 'comment')}>
      {analyzed === 0 ? null : (
        <PartsBar
          parts={sentimentParts
            .filter(({ name }) => sentiments[name] > 0)
            .map(({ name, text, tone }) => ({
              tone,
              name: text,
              share: sentiments[name],
              figure: `${percentage(sentiments[name], analyzed)}%`,
              remark: count(sentiments[name]),
              href: linkTo({ sentiment: name }),
            }))}
        />
      )}
      <p class="sub">
        {left === 0
          ? 'All comments are analyzed.'
          : `${counted(left, 'comment')} not analyzed${isOn ? ' yet, or from before analysis was on' : ''}.`}{' '}
        {withoutTheme === 0
          ? null
          : `${counted(withoutTheme, 'analyzed comment')} without a theme.`}
      </p>
      {isOn ? null : (
        <p class="small">
          Analysis is off, so new comments are not read.{' '}
          <a href={`${home}/settings/general`}>General settings</a>
        </p>
      )}
    </Part>
  );
}

function ThemePart(props: Props & { chosen: MeasuredTheme }) {
  const { home, linkTo, period, type, read, chosen, quotes } = props;
  const { theme, now, before, change, counted: tally } = chosen;
  const { lead, rest } = describeChange({ type, change, before, period });
  return (
    <section class="card" aria-labelledby="theme">
      <div class="title">
        <h2 id="theme">
          <bdi>{theme}</bdi>
        </h2>
        <a href={linkTo({ theme })}>
          {counted(now.total, 'response')}
          <span class="hidden"> about {theme}</span>
        </a>
      </div>
      <p class="figure">
        {formatValue(type, now.value!)}{' '}
        <small>
          {typeFacts(type).shortNumber}
          {now.interval === null ? '' : `, 95%: ${formatInterval(type, now.interval)}`}
        </small>
      </p>
      <p>
        <ChangeLead lead={lead} change={change} />
        {rest}{' '}
        <span class="soft">
          {percentage(now.total, read.analyzed)}% of analyzed comments.
          {before.total === 0
            ? null
            : ` In the ${counted(period.days, 'day')} before: ${counted(before.total, 'comment')}.`}
        </span>
      </p>
      <Categories type={type} tally={tally} linkTo={(category) => linkTo({ theme, category })} />
      <ul class="rows">
        {quotes.map((quote) => (
          <li>
            <ResponseRow
              response={quote}
              href={`${home}/responses/${quote.id}`}
              title={quote.survey_name}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ThemesTable({ home, asks, linkTo, type, read, themes, chosen }: Props) {
  const number = (head: string) => ({ head, number: true });
  const hasChange = themes.some(({ change }) => change !== null);
  return (
    <Part id="all" title="All themes" look="flush">
      {themes.length === 0 ? (
        <p class="soft">
          {read.analyzed === 0
            ? 'Themes appear here after analysis.'
            : 'No themes in these comments.'}
        </p>
      ) : (
        <DataTable
          caption={`Themes by number of comments, scored by ${typeFacts(type).shortNumber}`}
          nowrap
          columns={[
            'Theme',
            { ...number('Comments'), before: 'Comments ' },
            { ...number('Share'), after: '' },
            { head: 'Range', phone: 'line' },
            { ...number(typeFacts(type).shortNumber), phone: 'beside' },
            { ...number('95% interval'), phone: 'absent' },
            ...(hasChange ? [{ ...number('Change'), phone: 'absent' } as const] : []),
          ]}
          rows={themes.map(({ theme, isOwn, now, change }) => ({
            current: theme === chosen?.theme,
            cells: [
              <>
                <a href={`${withQuery(`${home}/themes`, { ...asks, theme })}#theme`}>
                  <bdi>{theme}</bdi>
                </a>{' '}
                {isOwn ? <span class="tag">yours</span> : null}
              </>,
              <a href={linkTo({ theme })}>
                {count(now.total)}
                <span class="hidden"> about {theme}</span>
              </a>,
              `${percentage(now.total, read.analyzed).toFixed(1)}%`,
              <ScoreRange type={type} measured={now} />,
              <b>{formatValue(type, now.value!)}</b>,
              now.interval === null ? '–' : formatInterval(type, now.interval),
              ...(hasChange ? [<ChangeCell type={type} change={change} />] : []),
            ],
          }))}
        />
      )}
      {themes.length === 0 ? null : (
        <p class="sub">
          A comment can have several themes. Listed are your own themes and the most common ones of
          the latest {count(sampledResponses)} responses, with the numbers of the whole period.
        </p>
      )}
    </Part>
  );
}

function ChangeCell({ type, change }: { type: SurveyType; change: Change | null }) {
  if (change === null) return <span class="soft">new</span>;
  const sign = change.by > 0 ? '+' : change.by < 0 ? '−' : '';
  const size = Math.abs(change.by);
  const by = `${sign}${typeFacts(type).measure === 'mean' ? size.toFixed(2) : size}`;
  if (change.meaning !== 'better' && change.meaning !== 'worse')
    return <span class="soft">{by}</span>;
  return <ChangeLead lead={by} change={change} />;
}
