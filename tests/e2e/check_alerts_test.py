#!/usr/bin/env python3
"""The checker of the alerts finds metrics that do not exist."""
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_alerts", ROOT / "tools/check_alerts.py")
check_alerts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_alerts)

KNOWN = {"kindred_copy_owner", "kindred_http_request_seconds"}


class CheckAlertsTest(unittest.TestCase):
    def faults(self, expression):
        return list(check_alerts.faults_of({"One": expression}, KNOWN))

    def test_metrics_that_are_there(self):
        self.assertEqual(self.faults("sum by (shard) (kindred_copy_owner) != 1"), [])
        self.assertEqual(self.faults('rate(kindred_http_request_seconds_count{status=~"5.."}[5m]) > 0'), [])
        self.assertEqual(self.faults('up{job="kindred_nodes"} == 0'), [])

    def test_faults(self):
        self.assertIn("kindred_copy_owners", self.faults("kindred_copy_owners != 1")[0])
        self.assertIn("no metric", self.faults("vector(1) > 2")[0])
        self.assertIn("no rules", list(check_alerts.faults_of({}, KNOWN))[0])

    def test_the_rules_of_the_repository(self):
        rules, known = check_alerts.expressions(ROOT), check_alerts.metrics_in_sources(ROOT)
        self.assertGreater(len(rules), 10)
        self.assertEqual(list(check_alerts.faults_of(rules, known)), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
