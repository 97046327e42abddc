// Where the nodes of a small graph are drawn: linked ones pull each other, all push each other away, and the first
// stays in the middle. The same graph in the same room is always drawn the same.

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

/** `links` are pairs of places in the list of nodes. */
export function layOut(count: number, links: [number, number][], room: Room): Point[] {
  const points = start(count, room);
  const ideal = 0.75 * Math.sqrt((room.width * room.height) / Math.max(count, 2));
  for (let round = 0; round < rounds; round++) {
    const shifts = pushes(points, ideal);
    pull(points, links, ideal, shifts);
    const furthest = (room.width / 8) * (1 - round / rounds);
    points.forEach((point, place) => place > 0 && move(point, shifts[place]!, furthest, room));
  }
  return points;
}

function start(count: number, room: Room): Point[] {
  return Array.from({ length: count }, (_, place) => {
    const out = place === 0 ? 0 : 0.25 + 0.2 * (place / count);
    const angle = place * goldenAngle;
    return { x: room.width * (0.5 + out * Math.cos(angle)), y: room.height * (0.5 + out * Math.sin(angle)) };
  });
}

function pushes(points: Point[], ideal: number): Point[] {
  return points.map((point, place) => {
    const shift = { x: 0, y: 0 };
    points.forEach((other, otherPlace) => {
      if (place === otherPlace) return;
      const [x, y] = [point.x - other.x, point.y - other.y];
      const square = Math.max(1, x * x + y * y);
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

function move(point: Point, shift: Point, furthest: number, room: Room): void {
  const length = Math.max(1, Math.hypot(shift.x, shift.y));
  const share = Math.min(length, furthest) / length;
  point.x = Math.min(room.width, Math.max(0, point.x + shift.x * share));
  point.y = Math.min(room.height, Math.max(0, point.y + shift.y * share));
}
