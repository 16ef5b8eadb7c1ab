// Moving contacts in: a table is chosen, its columns get a meaning, the reader sees what will happen, and it happens.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api-error.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Banner } from '../design/feedback.tsx';
import { notify } from '../notices.ts';
import { countOf } from '../times.ts';
import { maxRows, readTable, textOf } from './csv.ts';
import { type ContactRow, contactRows, type Meaning, meaningsOf, type RowOutcome, sendRows } from './importing.ts';

const choices: readonly { readonly value: Meaning; readonly label: string }[] = [
  { value: 'nothing', label: 'Leave out' },
  { value: 'name', label: 'Name' },
  { value: 'firstName', label: 'First name' },
  { value: 'lastName', label: 'Last name' },
  { value: 'email', label: 'Email' },
  { value: 'phone', label: 'Phone' },
  { value: 'company', label: 'Company' },
  { value: 'tags', label: 'Tags' },
  { value: 'note', label: 'Note' },
  { value: 'field', label: 'A field of its own' },
];
const maxProblems = 10;

interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface ImportDialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ImportDialog({ onClose, onDone }: ImportDialogProps): JSX.Element {
  const [table, setTable] = useState<Table | undefined>(undefined);
  const [meanings, setMeanings] = useState<readonly Meaning[]>([]);
  const [planned, setPlanned] = useState<readonly RowOutcome[] | undefined>(undefined);
  const [done, setDone] = useState<number | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);

  const choose = async (file: File): Promise<void> => {
    setFailure(undefined);
    const [header, ...rows] = readTable(textOf(await file.arrayBuffer()));
    if (header === undefined || rows.length === 0)
      return setFailure(new Error('This file has no table with a heading and rows. Choose a CSV file.'));
    if (rows.length > maxRows)
      return setFailure(new Error(`This file has more than ${countOf(maxRows)} rows. Import it in parts.`));
    setTable({ header, rows });
    setMeanings(meaningsOf(header));
    setPlanned(undefined);
  };
  const run = async (dryRun: boolean): Promise<void> => {
    if (table === undefined) return;
    setFailure(undefined);
    setDone(0);
    const rows: readonly ContactRow[] = contactRows(table.rows, { header: table.header, meanings });
    try {
      const outcomes = await sendRows(rows, { dryRun, signal: abort.current.signal, onProgress: setDone });
      if (dryRun) setPlanned(outcomes);
      else {
        notify({ kind: 'done', text: `Imported. ${wordsOf(outcomes)}` });
        onDone();
      }
    } catch (error) {
      if (!abort.current.signal.aborted) setFailure(error);
    }
    setDone(undefined);
  };
  const isReady = meanings.includes('email') || meanings.includes('phone');
  return (
    <Dialog title="Import contacts" wide onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void run(planned === undefined);
        }}
      >
        <p class="soft">
          A CSV file, as other systems and address books write it. Contacts are recognised by their email, or else their
          phone number; what is known already stays, and no one is written to.
        </p>
        <label class="field">
          <span>File</span>
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file !== undefined) void choose(file);
            }}
          />
        </label>
        {table !== undefined && (
          <Columns
            table={table}
            meanings={meanings}
            onMeaning={(index, meaning) => {
              setMeanings(meanings.map((one, at) => (at === index ? meaning : one)));
              setPlanned(undefined);
            }}
          />
        )}
        {table !== undefined && !isReady && (
          <Banner kind="warn">Choose a column with the email or the phone number.</Banner>
        )}
        {done !== undefined && table !== undefined && (
          <progress class="contact-progress" max={table.rows.length} value={done} aria-label="Rows" />
        )}
        <div role="status">{planned !== undefined && <Plan outcomes={planned} />}</div>
        {failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}
        <div class="actions">
          <Button type="submit" kind="primary" busy={done !== undefined} disabled={table === undefined || !isReady}>
            {planned === undefined ? 'See what will happen' : 'Import'}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Columns({
  table: { header, rows },
  meanings,
  onMeaning,
}: {
  readonly table: Table;
  readonly meanings: readonly Meaning[];
  readonly onMeaning: (index: number, meaning: Meaning) => void;
}): JSX.Element {
  return (
    <div class="contact-mapping">
      <table>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">For example</th>
            <th scope="col">Becomes</th>
          </tr>
        </thead>
        <tbody>
          {header.map((heading, index) => (
            <tr key={index}>
              <th scope="row">{heading}</th>
              <td class="soft">{rows.find((row) => (row[index] ?? '').trim() !== '')?.[index]?.slice(0, 60)}</td>
              <td>
                <select
                  class="input"
                  aria-label={`${heading} becomes`}
                  value={meanings[index]}
                  onChange={(event) => onMeaning(index, event.currentTarget.value as Meaning)}
                >
                  {choices.map(({ value, label }) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Plan({ outcomes }: { readonly outcomes: readonly RowOutcome[] }): JSX.Element {
  const problems = outcomes.flatMap(({ problem }, index) => (problem === null ? [] : [{ row: index + 2, problem }]));
  return (
    <div class="stack">
      <Banner>{wordsOf(outcomes)}</Banner>
      {problems.length > 0 && (
        <ul class="contact-problems">
          {problems.slice(0, maxProblems).map(({ row, problem }) => (
            <li key={row}>
              Row {row}: {problem}
            </li>
          ))}
          {problems.length > maxProblems && <li>and {countOf(problems.length - maxProblems)} more</li>}
        </ul>
      )}
    </div>
  );
}

function wordsOf(outcomes: readonly RowOutcome[]): string {
  const count = (sought: RowOutcome['outcome']): string =>
    countOf(outcomes.filter(({ outcome }) => outcome === sought).length);
  return `New: ${count('created')}. Filled in: ${count('updated')}. Known already: ${count('unchanged')}. Left out: ${count('invalid')}.`;
}
