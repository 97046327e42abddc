// Prepares a neighbourhood for drawing.
import type { Edge, Neighbour } from '../api/types';
import type { Point } from './graph_layout';

/** All links between two nodes, in either direction; `a` and `b` are places in the list of nodes. */
export interface Tie {
  key: string;
  a: number;
  b: number;
  forth: boolean;
  back: boolean;
  name: string;
}

/** The nodes with the one in the middle first, the others the nearest first. */
export function centred(nodes: Neighbour[], id: string): Neighbour[] {
  const middle = nodes.find((node) => node.id === id) ?? { id, title: '', hops: 0 };
  return [middle, ...nodes.filter((node) => node.id !== id).sort((a, b) => a.hops - b.hops)];
}

export function tied(nodes: Neighbour[], edges: Edge[]): Tie[] {
  const places = new Map(nodes.map((node, place) => [node.id, place]));
  const ties = new Map<string, Tie & { names: Set<string> }>();
  for (const { from, to, name } of edges) {
    const [source, target] = [places.get(from), places.get(to)];
    if (source === undefined || target === undefined || source === target) continue;
    const [a, b] = [Math.min(source, target), Math.max(source, target)];
    const key = `${a}-${b}`;
    const tie = ties.get(key) ?? { key, a, b, forth: false, back: false, name: '', names: new Set() };
    if (source === a) tie.forth = true;
    else tie.back = true;
    tie.names.add(name);
    ties.set(key, tie);
  }
  return [...ties.values()].map(({ names, ...tie }) => ({ ...tie, name: [...names].filter(Boolean).join(', ') }));
}

const nodeRadius = 13;

/** The line from node to node, without the parts that the nodes cover. */
export function lineBetween(from: Point, to: Point): { x1: number; y1: number; x2: number; y2: number } {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const share = Math.min(0.45, nodeRadius / Math.max(1, Math.hypot(x, y)));
  return { x1: from.x + x * share, y1: from.y + y * share, x2: to.x - x * share, y2: to.y - y * share };
}

/** A title in two lines at most, each of about `lineLength` letters. */
export function linesOf(title: string, lineLength: number): string[] {
  const lines = [''];
  for (const word of title.split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line && line.length + word.length >= lineLength) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  const cut = (line: string) => (line.length > lineLength ? `${[...line].slice(0, lineLength - 1).join('')}…` : line);
  return lines.length > 2 ? [cut(lines[0]!), cut(lines.slice(1).join(' '))] : lines.map(cut);
}
