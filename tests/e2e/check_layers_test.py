#!/usr/bin/env python3
"""The checker of the layers refuses each kind of breach, and passes on a tree without breaches."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools/check_layers.py")
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)

check_layers.TIERS = [["base"], ["kv", "net"], ["index"], ["bench"]]
check_layers.INSIDE = {"index": ["truth", "shard"]}
check_layers.HOMES = {"rocksdb/": ["kv"]}

TREE = {
    "base/result.h": "",
    "base/testing/clock.h": '#include "base/result.h"\n',
    "kv/table.h": '#include "base/result.h"\n',
    "kv/table.cc": "#include <rocksdb/db.h>\n",
    "index/entity.h": '#include "base/result.h"\n',
    "index/truth/rows.h": '#include "index/entity.h"\n#include "kv/table.h"\n',
    "index/shard/state.h": '#include "index/truth/rows.h"\n',
    "index/shard.h": '#include "index/truth/rows.h"\n',
    "index/shard.cc": '#include "index/shard.h"\n#include "index/shard/state.h"\n',
    "index/testing/model.h": '#include "index/shard/state.h"\n#include "base/testing/clock.h"\n',
    "index/shard_test.cc": '#include "index/testing/model.h"\n',
    "bench/main.cc": '#include "index/shard.h"\n#include "index/testing/model.h"\n',
}


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.src = pathlib.Path(folder.name)
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def refuses(self, name, include, *words):
        self.write(name, include + "\n")
        found = list(check_layers.breaches(self.src))
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_passes_a_sound_tree(self):
        self.assertEqual(list(check_layers.breaches(self.src)), [])

    def test_refuses_a_room_to_the_right(self):
        self.refuses("kv/x.cc", '#include "index/shard.h"', "'kv' may not include 'index'")

    def test_refuses_a_neighbour(self):
        self.refuses("net/x.cc", '#include "kv/table.h"', "'net' may not include 'kv'")

    def test_refuses_an_include_past_a_door(self):
        self.refuses("bench/x.cc", '#include "index/truth/rows.h"', "inside 'index'")

    def test_refuses_a_folder_to_the_right(self):
        self.refuses("index/truth/x.cc", '#include "index/shard/state.h"',
                     "'index/truth' may not include 'index/shard'")

    def test_refuses_a_detour_through_the_door(self):
        self.write("index/wide.h", '#include "index/shard/state.h"\n')
        self.refuses("index/truth/x.cc", '#include "index/wide.h"', "index/wide.h, which includes")

    def test_refuses_testing_in_the_product(self):
        self.refuses("index/x.cc", '#include "index/testing/model.h"', "for tests only")

    def test_refuses_testing_of_another_room_in_the_product(self):
        self.refuses("index/x.cc", '#include "base/testing/clock.h"', "for tests only")

    def test_refuses_a_library_away_from_home(self):
        self.refuses("index/x.cc", "#include <rocksdb/db.h>", "belongs in kv")

    def test_refuses_a_library_in_a_header(self):
        self.refuses("kv/x.h", "#include <rocksdb/db.h>", "include it in a .cc file")

    def test_refuses_a_path_without_a_room(self):
        self.refuses("kv/x.cc", '#include "table.h"', "write the room")

    def test_refuses_unknown_places(self):
        self.refuses("attic/x.cc", "", "is not a room")
        (self.src / "attic/x.cc").unlink()
        self.refuses("index/attic/x.cc", "", "has no place in the order")

    def test_counts_doors(self):
        self.assertEqual(check_layers.doors(self.src)["index"], (2, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
