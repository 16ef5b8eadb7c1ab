// The replies of reports, for their routes and for the pages that draw them. Specification 4.13.

import Type from 'typebox';
import { Id, nullable, Time } from './shared.ts';

const head = {
  range: Type.Object({ start: Time, end: Time }),
  filters: Type.Object({ departmentId: nullable(Id), agentId: nullable(Id) }),
};
export const ReportHead = Type.Object(head);
const Bucket = Type.String({ description: "Its start, in the workspace's time zone with its UTC offset." });
const SeriesPoint = Type.Object({ bucket: Bucket, value: Type.Integer() });
const Seconds = nullable(
  Type.Number({
    description: 'Null without data. Exact for up to 500 conversations, otherwise within 1 percent.',
  }),
);
const Durations = Type.Object({ medianSeconds: Seconds, p90Seconds: Seconds });
const Abandonment = Type.Object({
  abandoned: Type.Integer(),
  total: Type.Integer(),
  rate: Type.Number({ description: '0 to 1.' }),
});
const perChannel = <Schema extends typeof Abandonment | ReturnType<typeof Type.Integer>>(schema: Schema) =>
  Type.Object({ chat: schema, ticket: schema, call: schema });

export const VolumeReport = Type.Object({ ...head, series: Type.Array(SeriesPoint), total: Type.Integer() });
export const StatusReport = Type.Object({
  ...head,
  counts: Type.Object({
    open: Type.Integer(),
    pending: Type.Integer(),
    solved: Type.Integer(),
    closed: Type.Integer(),
  }),
  total: Type.Integer(),
});
export const ResponseTimesReport = Type.Object({ ...head, firstResponse: Durations, resolution: Durations });
export const SatisfactionReport = Type.Object({
  ...head,
  series: Type.Array(
    Type.Object({
      bucket: Bucket,
      value: Type.Number({ description: 'The average, 0 without ratings.' }),
      mean: nullable(Type.Number({ description: 'Null without ratings.' })),
      responses: Type.Integer(),
    }),
  ),
  average: nullable(Type.Number()),
  responses: Type.Integer(),
  total: Type.Integer({ description: 'Same as `responses`.' }),
});
export const PerformanceReport = Type.Object({
  ...head,
  agents: Type.Array(
    Type.Object({
      agent: Type.Object({ id: Id, name: Type.String() }),
      conversations: Type.Integer(),
      firstResponseMedianSeconds: Seconds,
      fullResolutionMedianSeconds: Seconds,
      csatScore: nullable(Type.Number()),
      csatResponses: Type.Integer(),
    }),
  ),
});
export const CustomersReport = Type.Object({
  ...head,
  queued: perChannel(Type.Integer()),
  abandonment: perChannel(Abandonment),
});
export const ConversionsReport = Type.Object({
  ...VolumeReport.properties,
  totalValueCents: Type.Integer(),
  goals: Type.Array(
    Type.Object({
      goalId: Id,
      name: Type.String(),
      status: Type.Enum(['active', 'paused', 'archived', 'deleted']),
      completions: Type.Integer(),
      valueCents: Type.Integer(),
    }),
  ),
});
