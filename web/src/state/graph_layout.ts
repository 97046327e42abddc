// Where the nodes of a small graph are drawn: linked ones pull each other, all push each other away, then they are
// spread over the room and moved until no label covers another. The same graph in the same room is always drawn the same.

export interface Point {
  x: number;
  y: number;
}

export interface Room {
  width: number;
  height: number;
}

const rounds = 240;
// Turning by this angle from node to node spreads them evenly, however many there are.
const goldenAngle = Math.PI * (3 - Math.sqrt(5));

/** `links` are pairs of places in the list of nodes; `label` is the room that each node takes. */
export function layOut(count: number, links: [number, number][], room: Room, label: Room): Point[] {
  const points = start(count);
  const ideal = 1 / Math.sqrt(Math.max(count, 2));
  for (let round = 0; round < rounds; round++) {
    const shifts = pushes(points, ideal);
    pull(points, links, ideal, shifts);
    const furthest = (1 - round / rounds) / 8;
    points.forEach((point, place) => move(point, shifts[place]!, furthest));
  }
  const spread = fill(points, room);
  for (let round = 0; round < rounds; round++) part(spread, label, room);
  return spread;
}

function start(count: number): Point[] {
  return Array.from({ length: count }, (_, place) => {
    const out = place === 0 ? 0 : 0.25 + 0.2 * (place / count);
    const angle = place * goldenAngle;
    return { x: 0.5 + out * Math.cos(angle), y: 0.5 + out * Math.sin(angle) };
  });
}

function pushes(points: Point[], ideal: number): Point[] {
  return points.map((point, place) => {
    const shift = { x: 0, y: 0 };
    points.forEach((other, otherPlace) => {
      if (place === otherPlace) return;
      const [x, y] = [point.x - other.x, point.y - other.y];
      const square = Math.max(1e-6, x * x + y * y);
      shift.x += (x * ideal * ideal) / square;
      shift.y += (y * ideal * ideal) / square;
    });
    return shift;
  });
}

function pull(points: Point[], links: [number, number][], ideal: number, shifts: Point[]): void {
  for (const [a, b] of links) {
    const [x, y] = [points[a]!.x - points[b]!.x, points[a]!.y - points[b]!.y];
    const strength = Math.hypot(x, y) / ideal;
    shifts[a]!.x -= x * strength;
    shifts[a]!.y -= y * strength;
    shifts[b]!.x += x * strength;
    shifts[b]!.y += y * strength;
  }
}

function move(point: Point, shift: Point, furthest: number): void {
  const length = Math.max(1e-9, Math.hypot(shift.x, shift.y));
  const share = Math.min(length, furthest) / length;
  point.x += shift.x * share;
  point.y += shift.y * share;
}

const spanOf = (values: number[]) => ({ low: Math.min(...values), high: Math.max(...values) });

/** Stretched so that the outermost nodes are at the walls; nodes that are all in a line stay in the middle. */
function fill(points: Point[], room: Room): Point[] {
  const [across, down] = [spanOf(points.map(({ x }) => x)), spanOf(points.map(({ y }) => y))];
  const fit = (value: number, { low, high }: { low: number; high: number }, size: number) =>
    high - low < 0.05 ? size / 2 : ((value - low) / (high - low)) * size;
  return points.map(({ x, y }) => ({ x: fit(x, across, room.width), y: fit(y, down, room.height) }));
}

/** Moves nodes whose labels meet a little apart, the shorter way. */
function part(points: Point[], label: Room, room: Room): void {
  points.forEach((a, place) => {
    for (const b of points.slice(place + 1)) {
      const [x, y] = [label.width - Math.abs(a.x - b.x), label.height - Math.abs(a.y - b.y)];
      if (x <= 0 || y <= 0) continue;
      const by = Math.min(x, y) / 4;
      const [upper, axis] = y <= x ? [a.y <= b.y, 'y' as const] : [a.x <= b.x, 'x' as const];
      a[axis] += upper ? -by : by;
      b[axis] += upper ? by : -by;
    }
  });
  for (const point of points) {
    point.x = Math.min(room.width, Math.max(0, point.x));
    point.y = Math.min(room.height, Math.max(0, point.y));
  }
}
