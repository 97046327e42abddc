#include "stories/newsroom/audit.h"

#include <fmt/format.h>

#include <array>

#include "stories/newsroom/changes.h"
#include "stories/newsroom/grouping.h"

namespace kin::stories {
namespace {

// Each query counts rows that must not exist.
struct Rule {
  const char* broken;
  const char* count;
};

constexpr std::array kRules{
    Rule{"stories whose number of items is wrong",
         "SELECT count(*) FROM stories s WHERE count <> "
         "(SELECT count(*) FROM items WHERE story = s.id) OR count = 0"},
    Rule{"stories whose number of sources is wrong",
         "SELECT count(*) FROM stories s WHERE sources <> "
         "(SELECT count(DISTINCT feed) FROM items WHERE story = s.id)"},
    Rule{"stories whose times are not those of their items",
         "SELECT count(*) FROM stories s WHERE (first, last) IS NOT "
         "(SELECT min(published), max(published) FROM items WHERE story = s.id)"},
    Rule{"stories whose place in the timeline is wrong",
         "SELECT count(*) FROM stories WHERE place <> max(last, lifted)"},
    Rule{"stories whose number of unseen items is wrong",
         "SELECT count(*) FROM stories s WHERE unseen <> "
         "(SELECT count(*) FROM unseen WHERE story = s.id) OR read <> (unseen = 0)"},
    Rule{"unseen items that are not in their story",
         "SELECT count(*) FROM unseen u WHERE NOT EXISTS "
         "(SELECT 1 FROM items WHERE id = u.item AND story = u.story)"},
    Rule{"stories represented by an item of another story",
         "SELECT count(*) FROM stories s WHERE NOT EXISTS "
         "(SELECT 1 FROM items WHERE id = s.representative AND story = s.id)"},
    Rule{"items without their story",
         "SELECT count(*) FROM items WHERE story NOT IN (SELECT id FROM stories)"},
    Rule{"items without their feed",
         "SELECT count(*) FROM items WHERE feed NOT IN (SELECT id FROM feeds)"},
    Rule{"stories that repeat a missing story",
         "SELECT count(*) FROM stories WHERE repeats NOT IN (SELECT id FROM stories)"},
    Rule{"aliases of missing stories",
         "SELECT count(*) FROM aliases WHERE target NOT IN (SELECT id FROM stories)"},
    Rule{"aliases that are stories as well",
         "SELECT count(*) FROM aliases WHERE story IN (SELECT id FROM stories)"},
    Rule{"bands of missing items",
         "SELECT count(*) FROM lsh_bands WHERE item NOT IN (SELECT id FROM items)"},
    Rule{"items with a signature and without all of its bands",
         "SELECT abs(20 * (SELECT count(*) FROM items WHERE signature IS NOT NULL AND id < "
         "coalesce((SELECT value FROM counters WHERE name = 'banded_to'), 1)) - "
         "(SELECT count(*) FROM lsh_bands))"},
    Rule{"stories that are missing in the lists of their feeds",
         "SELECT count(*) FROM (SELECT DISTINCT i.feed, NOT s.read, s.place, s.id FROM stories s "
         "JOIN items i ON i.story = s.id WHERE NOT s.hidden EXCEPT "
         "SELECT feed, unread, place, story FROM story_feeds)"},
    Rule{"stories that are in the lists of feeds without belonging there",
         "SELECT count(*) FROM (SELECT feed, unread, place, story FROM story_feeds EXCEPT "
         "SELECT DISTINCT i.feed, NOT s.read, s.place, s.id FROM stories s "
         "JOIN items i ON i.story = s.id WHERE NOT s.hidden)"},
    Rule{"feeds whose number of items is wrong",
         "SELECT count(*) FROM feeds f WHERE items <> "
         "(SELECT count(*) FROM items WHERE feed = f.id)"},
    Rule{"feeds whose number of unread stories is wrong",
         "SELECT count(*) FROM feeds f WHERE unread <> "
         "(SELECT count(*) FROM story_feeds WHERE feed = f.id AND unread = 1)"},
    Rule{"icons without their feed",
         "SELECT count(*) FROM icons WHERE feed NOT IN (SELECT id FROM feeds)"},
    Rule{"items or corrections with a number that was not assigned yet",
         "SELECT (SELECT count(*) FROM items WHERE id >= "
         "(SELECT value FROM counters WHERE name = 'next_arrival')) + "
         "(SELECT count(*) FROM corrections WHERE id >= "
         "(SELECT value FROM counters WHERE name = 'next_arrival'))"},
    Rule{"stories with a number that was not assigned yet",
         "SELECT count(*) FROM stories WHERE id >= "
         "(SELECT value FROM counters WHERE name = 'next_story')"},
};

Status check_file(NewsDatabase& database, std::vector<std::string>& found) {
  NewsQuery row = database.query("PRAGMA integrity_check(5)");
  while (row.next()) {
    const std::string line = row.text();
    if (line != "ok") found.push_back("the file is damaged: " + line);
  }
  return row.status();
}

}  // namespace

Result<std::vector<std::string>> audit(NewsDatabase& database, const Grouper* grouper) {
  // One snapshot for all rules: a write between two of them would look like a fault.
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  std::vector<std::string> found;
  KIN_RETURN_IF_ERROR(check_file(database, found));
  for (const Rule& rule : kRules) {
    KIN_TRY(const auto count, database.number(rule.count));
    if (count.value_or(0) != 0) found.push_back(fmt::format("{}: {}", rule.broken, *count));
  }
  if (grouper == nullptr) return found;
  KIN_TRY(const bool same, agrees(database, *grouper));
  if (!same) found.emplace_back("the grouper has other stories than the database");
  return found;
}

}  // namespace kin::stories
