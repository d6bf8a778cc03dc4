import type { Part, Sql } from '../db/db.ts';

/** What `csvLine` makes of a text, as an expression; an empty cell is null. The text is read several times. */
export const csvCell = (sql: Sql, text: Part): Part => sql`
  case when ${text} ~ '[",\\r\\n]' then concat('"', case when ${isFormula(sql, text)} then '''' end, replace(${text}, '"', '""'), '"')
       when ${isFormula(sql, text)} then concat('''', ${text})
       else ${text} end`;

/** By its first character, one of = + - @, tab and carriage return. */
const isFormula = (sql: Sql, text: Part) => sql`ascii(${text}) in (61, 43, 45, 64, 9, 13)`;

/** The cell of a JSON object. With a member it has quotes, and none is read as a formula. */
export const csvObject = (sql: Sql, object: Part): Part => sql`
  case when ${object} = '{}' then '{}' else concat('"', replace(${object}::text, '"', '""'), '"') end`;
