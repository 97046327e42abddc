#!/usr/bin/env python3
"""Makes the collection tests/collections/topics: docs.jsonl, queries.jsonl and qrels.tsv.

usage: make_topics.py FOLDER

Each document is about one topic. A topic has pairs of words for the same thing; half of the topic's documents use the
first word of each pair, the other half the second, and all share the rest of the topic's words. A query uses first
words only, so a search by words misses half of the answers, and a search by meaning has to find them.

The subjects "sea" and "kitchen" share few words, so that one can be added to an index of the other.
"""
import json
import pathlib
import random
import sys

DOCUMENTS_PER_TOPIC = 20

# Subject, name, pairs of synonyms, things, places, verbs with their objects.
TOPICS = [
    ("sea", "tides", ["ebb/low-water", "spring/syzygy", "gauge/mareograph", "moon/lunar"],
     ["current", "estuary", "bore", "datum", "harmonic", "amplitude"], ["bay", "strait", "inlet"],
     ["raises the level of the {place}", "repeats twice a day in the {place}", "is read from the {pair} at the {place}",
      "depends on the {pair} and on the depth of the {place}"]),
    ("sea", "ships", ["vessel/boat", "captain/skipper", "cargo/freight", "hull/bottom"],
     ["keel", "rudder", "deck", "engine", "propeller", "bulkhead"], ["dock", "shipyard", "roadstead"],
     ["was loaded at the {place} by its {pair}", "lost its {thing} near the {place}", "carries {pair} below the {thing}",
      "was painted at the {place}"]),
    ("sea", "lighthouses", ["lamp/lantern", "keeper/warden", "lens/optic", "fog/mist"],
     ["beam", "tower", "signal", "siren", "gallery", "bearing"], ["cape", "reef", "headland"],
     ["shows its {thing} over the {place}", "is tended by a {pair} on the {place}", "warns of the {place} in {pair}",
      "was given a new {pair}"]),
    ("sea", "fishing", ["trawler/dragger", "net/seine", "cod/codfish", "catch/landing"],
     ["quota", "mesh", "winch", "bait", "shoal", "sonar"], ["bank", "shelf", "fjord"],
     ["works the {place} with its {pair}", "brings its {pair} home from the {place}", "follows a {thing} along the {place}",
      "is limited by the {thing}"]),
    ("sea", "whales", ["whale/cetacean", "song/vocalisation", "calf/newborn", "krill/plankton"],
     ["fluke", "blowhole", "pod", "blubber", "dive", "tag"], ["ocean", "polar waters", "feeding ground"],
     ["feeds on {pair} in the {place}", "crosses the {place} with its {pair}", "was heard by its {pair} in the {place}",
      "carries a {thing} across the {place}"]),
    ("sea", "navigation", ["compass/magnetic needle", "chart/nautical map", "sextant/octant", "longitude/meridian"],
     ["bearing", "chronometer", "horizon", "azimuth", "log", "course"], ["passage", "channel", "crossing"],
     ["was plotted on the {pair} before the {place}", "takes a {thing} with the {pair}", "finds the {pair} in mid {place}",
      "corrects the {thing} for the {place}"]),
    ("sea", "corals", ["coral/polyp", "bleaching/whitening", "algae/symbionts", "reef/atoll"],
     ["skeleton", "lagoon", "sponge", "larva", "acidity", "temperature"], ["lagoon", "tropics", "shallows"],
     ["lives with {pair} in the {place}", "suffers from {pair} in warm {place}", "builds its {thing} in the {place}",
      "loses its {pair} when the {thing} rises"]),
    ("sea", "storms", ["hurricane/cyclone", "gale/strong wind", "surge/flooding", "barometer/pressure gauge"],
     ["eye", "rainband", "landfall", "wave", "forecast", "shelter"], ["coast", "islands", "gulf"],
     ["made {thing} on the {place} with a {pair}", "drove a {pair} over the {place}", "was seen on the {pair} a day before",
      "emptied the {place} of people"]),
    ("kitchen", "bread", ["sourdough/leaven", "flour/meal", "crust/rind", "oven/hearth"],
     ["dough", "crumb", "gluten", "baker", "proofing", "loaf"], ["bakery", "mill", "village oven"],
     ["rests overnight in the {place}", "is kneaded from {pair} and water", "gets its {pair} from the {place}",
      "is shaped by the {thing} before the {pair} is hot"]),
    ("kitchen", "cheese", ["rennet/enzyme", "whey/serum", "curd/junket", "cellar/cave"],
     ["mould", "rind", "brine", "milk", "wheel", "ripening"], ["dairy", "alpine hut", "farm"],
     ["ripens in the {place} for a year", "is pressed until the {pair} runs off", "is set with {pair} at the {place}",
      "is turned in the {pair} and washed with {thing}"]),
    ("kitchen", "coffee", ["espresso/short black", "bean/berry", "roast/browning", "grinder/mill"],
     ["crema", "filter", "aroma", "portafilter", "dose", "cup"], ["café", "roastery", "plantation"],
     ["is pulled in the {place} from a fresh {thing}", "owes its {thing} to the {pair}", "is ground in the {pair} at the {place}",
      "was dried on the {place}"]),
    ("kitchen", "soup", ["broth/stock", "simmer/poach", "ladle/scoop", "carrot/root vegetable"],
     ["onion", "marrow", "bay leaf", "pot", "salt", "bowl"], ["kitchen", "canteen", "inn"],
     ["is served hot in the {place}", "begins with {pair} and an {thing}", "has to {pair} for three hours",
      "is poured with a {pair} in the {place}"]),
    ("kitchen", "wine", ["grape/vine fruit", "cask/barrel", "tannin/bitterness", "vintage/harvest year"],
     ["cork", "must", "yeast", "bottle", "acidity", "bouquet"], ["vineyard", "press house", "estate"],
     ["ages in a {pair} at the {place}", "gets its {pair} from the skins", "was pressed from the {pair} of the {place}",
      "is judged by its {pair} and its {thing}"]),
    ("kitchen", "chocolate", ["cocoa/cacao", "tempering/crystallising", "conche/kneading trough", "praline/filled sweet"],
     ["butter", "sugar", "ganache", "gloss", "snap", "nib"], ["confectionery", "workshop", "market"],
     ["is made of {pair} from the {place}", "gets its {thing} by {pair}", "is worked for two days in the {pair}",
      "is poured over a {pair} in the {place}"]),
    ("kitchen", "spices", ["cinnamon/cassia", "pepper/peppercorn", "saffron/crocus threads", "mortar/grinding bowl"],
     ["clove", "cardamom", "scent", "sack", "trade", "blend"], ["bazaar", "warehouse", "garden"],
     ["is weighed in the {place} by the {thing}", "is crushed in a {pair} with {thing}", "is dearer than {pair} in the {place}",
      "came from the {place} in a {thing}"]),
    ("kitchen", "preserves", ["jam/marmalade", "vinegar/acetic acid", "jar/canning glass", "pickle/brined cucumber"],
     ["sugar", "lid", "pectin", "label", "boiling", "shelf"], ["pantry", "orchard", "kitchen garden"],
     ["keeps in the {place} through the winter", "is filled into a {pair} while it is hot", "sets because of the {thing}",
      "needs {pair} and a clean {thing}"]),
]
OPENINGS = ["The {subject}", "Every {subject}", "An old {subject}", "This {subject}", "A {subject} of that kind",
            "The first {subject}", "Their {subject}"]
CLOSINGS = ["Nobody wrote it down before.", "The records of the last century say the same.",
            "It has been so for generations.", "Visitors come to see it in autumn.", "A museum keeps the tools.",
            "The price has doubled since.", "Students measure it every spring.", "There is a song about it."]


def sentence(topic, words, rng):
    _, _, _, things, places, verbs = topic
    subject = rng.choice(words)
    verb = rng.choice(verbs).format(place=rng.choice(places), thing=rng.choice(things),
                                    pair=rng.choice([word for word in words if word != subject]))
    return f"{rng.choice(OPENINGS).format(subject=subject)} {verb}, together with the {rng.choice(things)}."


def document(number, topic, side, rng):
    words = [pair.split("/")[side] for pair in topic[2]]
    text = " ".join([*(sentence(topic, words, rng) for _ in range(5)), rng.choice(CLOSINGS)])
    return {"id": f"{topic[1]}-{number}", "title": f"{words[number % len(words)].capitalize()} of the {rng.choice(topic[4])}",
            "text": text, "tags": [topic[0]]}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    documents, queries, answers = [], [], ["query-id\tcorpus-id\tscore"]
    for topic in TOPICS:
        of_topic = [document(number, topic, number % 2, rng) for number in range(DOCUMENTS_PER_TOPIC)]
        documents += of_topic
        first = [pair.split("/")[0] for pair in topic[2]]
        for number, words in enumerate([first[:2], first[2:], [first[0], topic[3][0]]]):
            queries.append({"id": f"{topic[1]}-{number}", "text": " ".join(words)})
            answers += [f"{queries[-1]['id']}\t{one['id']}\t1" for one in of_topic]
    for name, lines in (("docs.jsonl", documents), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    (folder / "qrels.tsv").write_text("\n".join(answers) + "\n")


if __name__ == "__main__":
    main()
