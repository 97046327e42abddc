#include "bench/stories/sets.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "app/headlines.h"
#include "base/hash.h"
#include "base/random.h"
#include "bench/measure.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

using stories::UnixSeconds;

constexpr std::array kLanguages{"eng", "por", "spa", "fra", "deu", "rus"};
constexpr UnixSeconds kDay = 24 * 3600;

Result<app::Headlines> read_headlines(const fs::path& file, const std::string& label) {
  app::HeadlineColumns columns;
  columns.label = label;
  return app::read_headlines(std::array{file.string()}, columns);
}

LabelledSet sorted(const LabelledSet& set) {
  std::vector<std::size_t> order(set.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return set.items[i].published_at; });
  LabelledSet result{.name = set.name, .family = set.family, .items = {}, .labels = {}};
  for (const std::size_t i : order) result.add(set.items[i], set.labels[i]);
  return result;
}

LabelledSet named(LabelledSet set, std::string name, std::string family) {
  set.name = std::move(name);
  set.family = std::move(family);
  return set;
}

Status read_uci(const fs::path& file, SetsFolder& folder) {
  KIN_TRY(const LabelledSet all, read_set(file, "story"));
  folder.sets.push_back(named(half_of(all, false), "UCI first half", "UCI"));
  folder.sets.push_back(named(half_of(all, true), "UCI second half", "UCI"));
  return Done{};
}

Status read_olympics(const fs::path& file, SetsFolder& folder) {
  KIN_TRY(const LabelledSet all, read_set(file, "story"));
  // The same headlines with their language as the label.
  KIN_TRY(const LabelledSet languages, read_set(file, "language"));
  for (const std::string language : kLanguages) {
    LabelledSet part;
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      if (languages.labels[i] == hash64(language)) part.add(all.items[i], all.labels[i]);
    }
    folder.sets.push_back(named(part, "Olympics " + language, "Olympics"));
    if (language != "eng") continue;
    part.measured_from = part.items.size() / 2;
    folder.sets.push_back(named(part, "- its second half", "Olympics"));
    folder.sets.push_back(named(half_of(part, true), "- that half alone", "Olympics"));
  }
  return Done{};
}

// Moves the headlines into the `days` before `end`.
void add_stretched(const LabelledSet& from, UnixSeconds end, UnixSeconds days, LabelledSet& to) {
  const UnixSeconds first = from.items.front().published_at;
  const UnixSeconds span = std::max<UnixSeconds>(from.items.back().published_at - first, 1);
  for (std::size_t i = 0; i < from.items.size(); ++i) {
    stories::Item item = from.items[i];
    const double share = static_cast<double>(item.published_at - first) / static_cast<double>(span);
    item.published_at =
        end - days * kDay + static_cast<UnixSeconds>(share * static_cast<double>(days * kDay));
    to.add(item, hash64(from.name, from.labels[i]));
  }
}

// A reader of sport, of broad news and of many beats: everything in the last days of the games.
void interleave(SetsFolder& folder) {
  const LabelledSet* games = folder.find("Olympics eng");
  const LabelledSet* topics = folder.find("UCI first half");
  const LabelledSet* beats = folder.find("look-alikes");
  if (games == nullptr || topics == nullptr || beats == nullptr) return;
  constexpr UnixSeconds kDays = 6;
  const UnixSeconds end = games->items.back().published_at;
  LabelledSet all;
  for (std::size_t i = 0; i < games->items.size(); ++i) all.add(games->items[i], games->labels[i]);
  add_stretched(sample_of(*topics, 2, 0), end, kDays, all);
  add_stretched(*beats, end, kDays, all);
  folder.sets.push_back(named(sorted(all), "interleaved", "all"));
}

}  // namespace

void LabelledSet::add(const stories::Item& item, std::uint64_t label) {
  items.push_back(item);
  items.back().id = stories::ItemId{items.size() - 1};
  labels.push_back(label);
}

Result<LabelledSet> read_set(const fs::path& file, const std::string& label) {
  KIN_TRY(const app::Headlines read, read_headlines(file, label));
  LabelledSet set{
      .name = file.stem().string(), .family = file.stem().string(), .items = {}, .labels = {}};
  for (std::size_t i = 0; i < read.items.size(); ++i) set.add(read.items[i], read.labels[i]);
  return sorted(set);
}

LabelledSet half_of(const LabelledSet& set, bool second) {
  const std::size_t middle = set.items.size() / 2;
  LabelledSet half{.name = set.name, .family = set.family, .items = {}, .labels = {}};
  for (std::size_t i = second ? middle : 0; i < (second ? set.items.size() : middle); ++i)
    half.add(set.items[i], set.labels[i]);
  return half;
}

LabelledSet sample_of(const LabelledSet& set, std::size_t every, std::size_t offset) {
  LabelledSet sample{.name = set.name, .family = set.family, .items = {}, .labels = {}};
  for (std::size_t i = offset; i < set.items.size(); i += every)
    sample.add(set.items[i], set.labels[i]);
  return sample;
}

LabelledSet shuffled(const LabelledSet& set, std::uint64_t seed) {
  std::vector<std::size_t> order(set.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  shuffle(order, random);
  LabelledSet result{.name = set.name, .family = set.family, .items = {}, .labels = {}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    stories::Item item = set.items[order[i]];
    // Other headlines at the same times, so that the rate stays the same.
    item.published_at = set.items[i].published_at;
    result.add(item, set.labels[order[i]]);
  }
  return result;
}

const LabelledSet* SetsFolder::find(const std::string& name) const {
  const auto found = std::ranges::find(sets, name, &LabelledSet::name);
  return found == sets.end() ? nullptr : &*found;
}

Result<SetsFolder> read_sets(const fs::path& folder) {
  SetsFolder result;
  const auto read = [&](const char* name, const auto& with) -> Status {
    if (!fs::exists(folder / name)) {
      result.missing.emplace_back(name);
      return Done{};
    }
    return with(folder / name, result);
  };
  KIN_RETURN_IF_ERROR(read("headlines.jsonl", read_uci));
  KIN_RETURN_IF_ERROR(read("olympics.jsonl", read_olympics));
  KIN_RETURN_IF_ERROR(
      read("lookalikes.jsonl", [](const fs::path& file, SetsFolder& into) -> Status {
        KIN_TRY(LabelledSet set, read_set(file, "story"));
        into.sets.push_back(named(std::move(set), "look-alikes", "look-alikes"));
        return Done{};
      }));
  interleave(result);
  return result;
}

}  // namespace kin::bench
