import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';

type ItemParts = {
  /** The name and the type of its survey, as members of an object that begin with a comma. */
  survey: Part;
  tags: Part;
  /** Only a response by itself has them. */
  notes?: Part;
};

/**
 * A response `r` as JSON, with its contact `c` and its analysis `a`, at a third of what `row_to_json` takes: that
 * looks up the type of each column for each row. `concat` takes longer than `||`, which makes null of all where one
 * part is null: so none may be.
 */
export const itemText = (sql: Sql, { survey, tags, notes }: ItemParts): Part => {
  const text = (value: Part) => sql`coalesce(to_json(${value})::text, 'null')`;
  return sql`(
    '{"id":"' || r.id::text || '","survey_id":"' || r.survey_id::text || '","score":' || r.score::text
    || ',"category":"' || r.category || '","comment":' || ${text(sql`r.comment`)}
    || ',"ai_sentiment":' || ${text(sql`a.sentiment`)} || ',"ai_themes":' || coalesce(to_json(a.themes)::text, '[]')
    || ',"ai_churn_risk":' || ${text(sql`a.churn_risk`)} || ',"ai_summary":' || ${text(sql`a.summary`)}
    || ',"held":' || case when r.held_reason is null then 'false' else 'true' end
    || ',"contact_email":' || ${text(sql`c.email`)} || ',"contact_name":' || ${text(sql`c.name`)}
    || ${survey} || ',"language":' || ${text(sql`r.language`)}
    || ',"properties":' || coalesce(c.properties, r.properties, '{}')::text || ',"tags":' || (${tags})::text
    || ',"state":' || ${text(sql`r.state`)} || ',"owner":' || ${text(ownerOf(sql))}
    || ',"created_at":"' || iso(r.created_at) || '"' ${notes ? sql`|| ',"notes":' || ${notes}::text` : sql``} || '}')`;
};

const ownerOf = (sql: Sql) =>
  sql`case when r.owner_id is not null then (select email from members where id = r.owner_id) end`;

/** Only what has a comment has an analysis: to look for one of each response takes a third of the time of an export. */
export const itemJoins = (sql: Sql): Part => sql`
  left join contacts c
    on c.org_id = r.org_id and c.id = r.contact_id
  left join analyses a
    on a.org_id = r.org_id and a.response_id = case when r.comment is not null then r.id end`;

export const surveyMembers = (sql: Sql): Part =>
  sql`concat(',"survey_name":', to_json(name), ',"survey_type":"', type, '"')`;

/** One survey is looked up once; a join looks the others up at half of what a subquery for each row takes. */
export const surveyText = (sql: Sql, orgId: OrgId, surveyId: string | null) =>
  surveyId === null
    ? { survey: sql`named.members`, join: namedJoin(sql, orgId) }
    : {
        survey: sql`(
          select ${surveyMembers(sql)}
          from surveys
          where org_id = ${orgId} and id = ${surveyId}
        )`,
        join: sql``,
      };

export const namedJoin = (sql: Sql, orgId: OrgId): Part => sql`
  left join lateral (
    select ${surveyMembers(sql)} as members
    from surveys
    where org_id = ${orgId} and id = r.survey_id
  ) named on true`;

/** Most organizations tag none, and most responses have no tag: to look is cheaper than to sort nothing. */
export const tagsOf = (sql: Sql, orgId: OrgId): Part => sql`
  case when (select exists (select from response_tags where org_id = ${orgId}))
    and exists (select from response_tags rt where rt.org_id = r.org_id and rt.response_id = r.id) then (
    select json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
                    order by lower(t.name) collate "C", t.name collate "C")
    from response_tags rt
    join tags t on t.org_id = rt.org_id and t.id = rt.tag_id
    where rt.org_id = r.org_id and rt.response_id = r.id
  ) else '[]' end`;
