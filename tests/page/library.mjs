// A small library about the sea, with links between its papers: the index of the search page's tests.

const paper = (id, title, text, rest = {}) => ({ id, title, text, ...rest });

export const papers = [
  paper('tides', 'How the moon raises the tides', 'The moon pulls on the near side of the ocean more than on the far side. Two bulges of water follow it around the Earth, and a coast that turns through them sees two high tides a day.', { tags: ['sea', 'physics'], links: [{ to: 'moon', name: 'explains' }, { to: 'spring-tides', name: 'cites' }], published: '2021-03-04T00:00:00Z', source: 'Ocean Letters', author: 'A. Marsh' }),
  paper('spring-tides', 'Spring tides and neap tides', 'When sun and moon pull in one line the tides are highest. A week later they pull across each other and the water hardly moves.', { tags: ['sea', 'physics'], links: [{ to: 'moon', name: 'cites' }, { to: 'almanac', name: 'cites', weight: 0.5 }], published: '2021-06-11T00:00:00Z', source: 'Ocean Letters', author: 'A. Marsh' }),
  paper('moon', 'The moon is leaving us', 'Friction of the tides on the sea floor slows the Earth and lifts the moon by four centimetres a year.', { tags: ['physics', 'sky'], links: [{ to: 'laser', name: 'cites' }], published: '2022-01-20T00:00:00Z', source: 'Night Sky' }),
  paper('laser', 'A mirror on the moon and a laser on the ground', 'Light takes two and a half seconds there and back. Fifty years of measuring the delay tell how far away the moon is, to the width of a finger.', { tags: ['sky', 'measuring'], published: '2020-07-20T00:00:00Z', source: 'Night Sky' }),
  paper('almanac', 'Tide tables for the northern harbours', 'High water and low water for every harbour of the northern coast, by day and hour.', { tags: ['sea', 'harbours'], valid_from: '2022-01-01T00:00:00Z', valid_until: '2023-01-01T00:00:00Z', published: '2021-11-30T00:00:00Z', source: 'Harbour Office', pages: 212 }),
  paper('almanac-23', 'Tide tables for the northern harbours, new edition', 'High water and low water for every harbour of the northern coast. The old tables are wrong at the new breakwater.', { tags: ['sea', 'harbours'], links: [{ to: 'almanac', name: 'replaces' }], valid_from: '2023-01-01T00:00:00Z', published: '2022-11-28T00:00:00Z', source: 'Harbour Office', pages: 220 }),
  paper('power', 'Electricity from the tides', 'Turbines under water turn with every tide. They work at night and in calm weather, and a century of tide tables says when.', { tags: ['sea', 'energy'], links: [{ to: 'tides', name: 'cites' }, { to: 'almanac-23', name: 'cites' }], published: '2023-05-02T00:00:00Z', source: 'Energy Today', url: 'https://example.org/tidal-power' }),
  paper('waves', 'What makes a wave break', 'A wave that comes into shallow water slows down at its foot and falls over itself.', { tags: ['sea', 'physics'], links: [{ to: 'tides', name: 'cites' }], published: '2019-09-14T00:00:00Z', source: 'Ocean Letters' }),
  paper('wind', 'Wind farms far from the coast', 'Floating towers reach steadier wind where the water is too deep to build.', { tags: ['energy', 'sea'], links: [{ to: 'power', name: 'compares' }], published: '2023-08-19T00:00:00Z', source: 'Energy Today' }),
  paper('crabs', 'Crabs that know when the water comes', 'Shore crabs kept in a dark room still walk about at the hour of high tide. They carry a clock of their own.', { tags: ['animals', 'sea'], links: [{ to: 'tides', name: 'cites' }], published: '2018-04-01T00:00:00Z', source: 'Shore Life' }),
  paper('turtles', 'Turtles steer by the field of the Earth', 'A hatchling swims in a circle across the whole Atlantic and comes back to the beach where it began.', { tags: ['animals', 'sea'], published: '2017-10-10T00:00:00Z', source: 'Shore Life' }),
  paper('whales', 'Songs of whales change like fashions', 'A song that is new in the east is sung in the west two years later.', { tags: ['animals', 'sea'], published: '2020-02-02T00:00:00Z', source: 'Shore Life' }),
  paper('harbour', 'A harbour that filled with sand', 'The breakwater kept the waves out and the sand in. Dredging costs more every year.', { tags: ['harbours'], links: [{ to: 'waves', name: 'cites' }, { to: 'almanac-23', name: 'cites' }], published: '2022-09-09T00:00:00Z', source: 'Harbour Office' }),
  paper('ferry', 'Ferries without smoke', 'Batteries are charged at the quay between two crossings.', { tags: ['harbours', 'energy'], published: '2024-01-15T00:00:00Z', source: 'Energy Today' }),
  paper('salt', 'Why the sea is salt', 'Rivers bring a little salt and the sun takes only the water away.', { tags: ['sea', 'chemistry'], published: '2016-05-05T00:00:00Z', source: 'Ocean Letters' }),
  paper('ice', 'Sea ice drifts faster than it did', 'Thin ice gives way to the wind. Buoys frozen into it report where it goes.', { tags: ['sea', 'climate'], links: [{ to: 'salt', name: 'cites' }], published: '2021-12-12T00:00:00Z', source: 'Ocean Letters' }),
  paper('level', 'Measuring the level of the sea from above', 'Satellites send a pulse down and wait for it. Tides have to be taken away before anything is left to see.', { tags: ['sea', 'measuring', 'climate'], links: [{ to: 'tides', name: 'cites' }, { to: 'laser', name: 'compares' }], published: '2023-03-30T00:00:00Z', source: 'Night Sky' }),
  paper('hostile', '<img src=x onerror=alert(1)> in a title', 'A text with <script>alert(2)</script> and "quotes" & more, about a lighthouse.', { tags: ['<b>bold</b>'], published: '2020-01-01T00:00:00Z', source: '<i>nowhere</i>', url: 'javascript:alert(3)' }),
];

/** Many alike, so that there is more than a page of results. */
export const logs = Array.from({ length: 30 }, (_, day) =>
  paper(`log-${day + 1}`, `Log of the lighthouse, day ${day + 1}`, `The keeper lit the lamp and counted ${day + 3} ships that passed the lighthouse.`, { tags: ['log'], source: 'Lighthouse' }));

export const lines = (documents) => documents.map((document) => `${JSON.stringify(document)}\n`).join('');
