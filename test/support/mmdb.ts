// Writes small databases in the MMDB format as MaxMind describes it: a search tree over addresses, a data section, and
// metadata.

export type Entry = readonly [network: string, record: object];

const separator = Buffer.alloc(16);
const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);

interface Node {
  readonly children: [Node | number | undefined, Node | number | undefined];
}

const newNode = (): Node => ({ children: [undefined, undefined] });

/** The bytes of a file. IPv4 networks are at ::/96, as in published files. */
export function mmdbOf(entries: readonly Entry[], databaseType = 'GeoLite2-City'): Buffer {
  const root = newNode();
  const data: Buffer[] = [];
  let dataLength = 0;
  for (const [network, record] of entries) {
    const bits = bitsOf(network);
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      let next = node.children[bit];
      if (next === undefined || typeof next === 'number') next = node.children[bit] = newNode();
      node = next;
    }
    node.children[bits.at(-1) ?? 0] = dataLength;
    const bytes = valueOf(record);
    data.push(bytes);
    dataLength += bytes.length;
  }
  const nodes: Node[] = [];
  const number = new Map<Node, number>();
  const gather = (node: Node): void => {
    number.set(node, nodes.length);
    nodes.push(node);
    for (const child of node.children) if (typeof child === 'object') gather(child);
  };
  gather(root);
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, { children }] of nodes.entries()) {
    for (const [side, child] of children.entries()) {
      const value =
        child === undefined
          ? nodes.length
          : typeof child === 'number'
            ? nodes.length + separator.length + child
            : (number.get(child) ?? 0);
      tree.writeUIntBE(value, index * 6 + side * 3, 3);
    }
  }
  const about = {
    node_count: nodes.length,
    record_size: 24,
    ip_version: 6,
    database_type: databaseType,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_800_000_000,
    description: { en: 'For tests' },
  };
  return Buffer.concat([tree, separator, ...data, marker, valueOf(about)]);
}

function bitsOf(network: string): (0 | 1)[] {
  const [address = '', length = ''] = network.split('/');
  const isV4 = address.includes('.');
  const groups = isV4 ? ['0', '0', '0', '0', '0', '0', ...pairs(address.split('.').map(Number))] : expanded(address);
  const all = groups.flatMap((group) =>
    [...Number.parseInt(group, 16).toString(2).padStart(16, '0')].map((bit): 0 | 1 => (bit === '1' ? 1 : 0)),
  );
  return all.slice(0, (isV4 ? 96 : 0) + Number(length));
}

function pairs([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string[] {
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

function expanded(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const [before, after] = [
    head === '' ? [] : head.split(':'),
    tail === undefined || tail === '' ? [] : tail.split(':'),
  ];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

const types = { text: 2, uint32: 6, map: 7, list: 11 } as const;

function control(type: number, size: number): Buffer {
  const extended = type > 7 ? [type - 7] : [];
  const first = (type > 7 ? 0 : type << 5) | Math.min(size, 29);
  return Buffer.from([first, ...extended, ...(size < 29 ? [] : [size - 29])]);
}

function valueOf(value: unknown): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    if (bytes.length >= 285) throw new Error('longer texts are not written');
    return Buffer.concat([control(types.text, bytes.length), bytes]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(types.uint32, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(types.list, value.length), ...value.map(valueOf)]);
  const fields = Object.entries(value as object);
  return Buffer.concat([
    control(types.map, fields.length),
    ...fields.flatMap(([name, field]) => [valueOf(name), valueOf(field)]),
  ]);
}
