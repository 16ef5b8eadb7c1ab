// `switchboard health`: checks whether the service with these settings accepts requests. For containers and watchdogs
// without curl.

import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { reachableHost, urlAt } from '../edge/listening.ts';
import { readConfig } from '../process/config.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';

const timeoutMs = 5000;

export const command: Command = {
  usage: '',
  description: `Asks the service on this machine, at HOST and PORT from the environment, whether it accepts requests.
Exits with 1 if it does not, or does not answer within 5 seconds.`,
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    const { tls, host, port } = readConfig(process.env);
    const url = `${urlAt(tls === undefined ? 'http' : 'https', reachableHost(host), port)}/readyz`;
    const { status, body } = await ask(url).catch((error: Error) => {
      throw new ProgramError(`${url} does not answer: ${error.message}`);
    });
    say(body);
    return status === 200 ? exitCodes.done : exitCodes.failed;
  },
};

function ask(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    // Health does not depend on whose certificate it is.
    const request = url.startsWith('https:')
      ? tlsRequest(url, { rejectUnauthorized: false, timeout: timeoutMs })
      : plainRequest(url, { timeout: timeoutMs });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1000} seconds`)));
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.end();
  });
}
