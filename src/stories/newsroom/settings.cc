#include "stories/newsroom/settings.h"

#include <fmt/format.h>

namespace kin::stories {
namespace {

// Every setting that is one number, by the name it is stored under.
template <typename Visit>
void for_each_number(Settings& settings, const Visit& visit) {
  const auto hours = [&](const char* name, std::chrono::hours& value) {
    // Visited as a plain number and stored back, so that one list serves reading and writing.
    auto number = static_cast<double>(value.count());
    visit(name, number);
    value = std::chrono::hours(static_cast<std::int64_t>(number));
  };
  hours("window_hours", settings.window);
  hours("fading_hours", settings.fading);
  // Thresholds of scores as they are since version 2 of the grouper's state; those that an older
  // program stored under other names had another scale.
  visit("join_score", settings.join_threshold);
  visit("merge_score", settings.merge_threshold);
  visit("dial", settings.dial);
  visit("copy_threshold", settings.copy_threshold);
  double one = settings.one_per_source ? 1 : 0;
  visit("one_per_source", one);
  settings.one_per_source = one != 0;
}

}  // namespace

Result<Settings> load_settings(NewsDatabase& database, Settings otherwise) {
  Settings settings = std::move(otherwise);
  bool stored = false;
  Status status = Done{};
  for_each_number(settings, [&](const char* name, double& value) {
    NewsQuery row = database.query("SELECT value FROM settings WHERE name = ?", name);
    if (row.next()) {
      value = row.real();
      stored = true;
    }
    if (status.ok()) status = row.status();
  });
  KIN_RETURN_IF_ERROR(status);
  // Nothing was ever stored: the caller's defaults, with their sources.
  if (!stored) return settings;
  KIN_TRY(settings.preferred_sources,
          read_all(database.query("SELECT source FROM preferred_sources ORDER BY rank"),
                   [](NewsQuery& row) { return row.text(); }));
  // A damaged threshold would silently change all stories.
  if (const Status sense = check(settings); !sense.ok())
    return Error{Code::kDataLoss, fmt::format("{}: {} (kindred feeds settings sets it)",
                                              database.path().string(), sense.error().message)};
  return settings;
}

Status store_settings(NewsDatabase& database, const Settings& settings) {
  Settings numbers = settings;
  Status status = Done{};
  for_each_number(numbers, [&](const char* name, double& value) {
    if (status.ok())
      status = database.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value);
  });
  KIN_RETURN_IF_ERROR(status);
  KIN_RETURN_IF_ERROR(database.run("DELETE FROM preferred_sources"));
  for (std::size_t rank = 0; rank < settings.preferred_sources.size(); ++rank) {
    KIN_RETURN_IF_ERROR(database.run("INSERT INTO preferred_sources VALUES (?, ?)", rank,
                                     settings.preferred_sources[rank]));
  }
  return Done{};
}

}  // namespace kin::stories
