// A small press: eight sites and what they report.

export const folders = { circuit: 'Tech', gadget: 'Tech', silicon: 'Tech', orchard: 'Tech', herald: 'World', chronicle: 'World' };

const sites = [
  ['circuit', 'The Circuit', [20, 110, 105]],
  ['gadget', 'Gadget Daily', [90, 80, 180]],
  ['silicon', 'Silicon Post', [150, 50, 100]],
  ['orchard', 'Orchard Rumours'],
  ['herald', 'Morning Herald', [30, 95, 150]],
  ['chronicle', 'The Chronicle', [140, 90, 20]],
  ['quarterly', 'Science Quarterly', [170, 50, 60]],
  ['kernel', 'Kernel Letter'],
];

const reports = [
  ['circuit', 12, 'Apple announces M4 chips for Mac', 'The new line brings more neural cores and twice the memory bandwidth, and ships next Friday in the Mac mini and the MacBook Pro.'],
  ['gadget', 10, 'Apple reveals M4 Mac Mini'],
  ['silicon', 8, 'New Mac Mini with M4 chip'],
  ['orchard', 4, "Apple's M4 Mac Mini announced"],
  ['quarterly', 34, 'A proof that some spaces cannot be cut, a century in the making', 'Mathematicians settled a question that goes back to the beginnings of topology.'],
  ['herald', 56, 'Storm closes ports along the North Sea coast as thousands leave their homes', 'Ferries are cancelled until Thursday.'],
  ['chronicle', 51, 'North Sea storm closes ports, thousands leave their homes along the coast'],
  ['kernel', 125, 'Faster file locking lands in the new kernel release'],
  ['chronicle', 190, 'Central bank leaves interest rates unchanged for a third time'],
  ['herald', 182, 'Interest rates unchanged again, central bank says'],
  ['gadget', 260, 'This tiny e-paper phone wants to be the last one you buy'],
  ['quarterly', 1500, 'Researchers map the wiring of a whole fruit fly brain'],
  ['herald', 1620, 'City council votes for a centre without cars'],
  ['chronicle', 1700, 'The last typewriter repair shop in Lisbon'],
  ['silicon', 2980, 'Telescope finds water vapour on a distant rocky planet'],
  ['herald', 3100, 'Vaccine trial shows protection that lasts five years'],
  ['kernel', 8700, 'What a librarian did to save a language'],
];

/** Sets the sites up; `names` are those to have, all if there are none. */
export function furnish(feeds, names = sites.map(([name]) => name)) {
  for (const [name, title, colour] of sites) if (names.includes(name)) feeds.addSite(name, title, colour);
  for (const [name, minutes, title, summary] of reports) {
    if (names.includes(name)) feeds.publish(name, title, { minutes, summary });
  }
  return names;
}
