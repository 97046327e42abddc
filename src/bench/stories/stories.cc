#include "bench/stories/stories.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/data_folder.h"
#include "app/headlines.h"
#include "app/meaning.h"
#include "base/ascii.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/random.h"
#include "bench/measure.h"
#include "bench/stories/tune.h"
#include "stories/group_all.h"

namespace kin::bench {
namespace {

using stories::Item;
using stories::ItemId;
using Model = stories::Grouper::Model;

Result<SetsFolder> read_input(const StoriesBench& bench) {
  if (std::filesystem::is_directory(bench.input)) return read_sets(bench.input);
  SetsFolder folder;
  if (!std::filesystem::exists(bench.input)) {
    folder.missing.push_back(bench.input);
    return folder;
  }
  KIN_TRY(const LabelledSet all, read_set(bench.input, bench.label));
  for (const bool second : {false, true}) {
    folder.sets.push_back(half_of(all, second));
    folder.sets.back().name += second ? " second half" : " first half";
  }
  return folder;
}

double largest(const std::vector<std::uint64_t>& groups) {
  std::map<std::uint64_t, std::size_t> sizes;
  std::size_t most = 0;
  for (const std::uint64_t group : groups) most = std::max(most, ++sizes[group]);
  return static_cast<double>(most);
}

constexpr std::array kTogether{"Apple announces M4 chips for Mac", "Apple reveals M4 Mac Mini",
                               "New Mac Mini with M4 chip", "Apple's M4 Mac Mini announced"};
constexpr std::array kStrangers{
    "Apple announces M4 iPad Pro", "Apple unveils new AirPods Pro with better noise cancelling",
    "Intel announces new laptop chips", "Samsung reveals Galaxy Book with new chip"};

// Headlines one minute apart, in an order and at offsets drawn by `random`. Labels: 1 for the four,
// 2 for the strangers.
LabelledSet with_models(const LabelledSet& headlines, std::size_t from, Random& random) {
  std::vector<std::pair<std::string, std::uint64_t>> titles;
  for (std::size_t i = 0; i < 500; ++i)
    titles.emplace_back(headlines.items[(from + i) % headlines.items.size()].title, 0);
  std::vector<std::pair<std::string, std::uint64_t>> models;
  for (const char* title : kTogether) models.emplace_back(title, 1);
  for (const char* title : kStrangers) models.emplace_back(title, 2);
  shuffle(models, random);
  std::size_t at = random.below(100);
  for (const auto& model : models) {
    titles.insert(titles.begin() + static_cast<std::ptrdiff_t>(at), model);
    at += 1 + random.below(50);
  }
  LabelledSet result;
  for (const auto& [title, label] : titles)
    result.add({.title = title,
                .published_at = static_cast<stories::UnixSeconds>(result.items.size() * 60)},
               label);
  return result;
}

Status measure_models(const LabelledSet& headlines, const Model& model, StoriesFigures& figures) {
  constexpr int kTrials = 40;
  figures.model_trials = kTrials;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const LabelledSet mixed = with_models(headlines, random.below(headlines.items.size()), random);
    KIN_TRY(const auto placements, stories::group_all(mixed.items, {}, model));
    std::set<stories::StoryId> found;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      if (mixed.labels[i] == 1) found.insert(placements[i].story);
    }
    figures.model_together += found.size() == 1 ? 1 : 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      if (mixed.labels[i] == 2 && found.contains(placements[i].story)) ++figures.model_strangers;
    }
  }
  return Done{};
}

double microseconds(const std::vector<Item>& items, const Model& model) {
  stories::Grouper grouper({}, model);
  const double start = thread_seconds();
  for (const Item& item : items) grouper.add(item);
  return 1e6 * (thread_seconds() - start) / static_cast<double>(items.size());
}

// Titles of the set with words exchanged for those of other titles, so that few of them describe
// one event: the state of a reader of very many feeds. The set's own headlines are spread evenly
// among them; only these have a label other than 0.
LabelledSet many_headlines(const LabelledSet& headlines, std::uint64_t count) {
  std::vector<std::string> words;
  for (const Item& item : headlines.items) {
    for (std::string_view rest = item.title; !rest.empty();) {
      const std::string_view word = take_until(rest, " ");
      if (!word.empty()) words.emplace_back(word);
    }
  }
  constexpr std::uint64_t kThreeDays = 3 * 24 * 3600;
  const std::uint64_t own = headlines.items.size();
  Random random(7);
  LabelledSet many;
  for (std::uint64_t i = 0; i < count; ++i) {
    Item item{.id = {},
              .title = {},
              .published_at = static_cast<stories::UnixSeconds>(i * kThreeDays / count)};
    for (int k = 0; k < 9; ++k) item.title += words[random.below(words.size())] + " ";
    many.add(item, 0);
    const std::uint64_t next = i * own / count;
    if ((i + 1) * own / count == next) continue;
    Item real = headlines.items[next];
    real.published_at = item.published_at;
    many.add(real, headlines.labels[next]);
  }
  return many;
}

void measure_many(const LabelledSet& headlines, std::uint64_t count, const Model& model,
                  StoriesFigures& figures) {
  const LabelledSet many = many_headlines(headlines, count);
  // Resident memory, because large arrays are not the allocator's.
  malloc_trim(0);
  const std::uint64_t before = resident_bytes();
  stories::Grouper grouper({}, model);
  std::vector<std::uint64_t> groups;
  std::vector<std::uint64_t> labels;
  const double start = thread_seconds();
  for (std::size_t i = 0; i < many.items.size(); ++i) {
    const auto placement = grouper.add(many.items[i]);
    if (many.labels[i] == 0) continue;
    groups.push_back(number(placement.story));
    labels.push_back(many.labels[i]);
  }
  figures.many = count;
  figures.many_microseconds =
      1e6 * (thread_seconds() - start) / static_cast<double>(many.items.size());
  for (const stories::Change& change : grouper.take_changes()) {
    if (change.kind == stories::Change::Kind::kMerged)
      std::ranges::replace(groups, number(change.other), number(change.story));
  }
  figures.many_agreement = stories::measure_agreement(groups, labels);
  malloc_trim(0);
  figures.story_bytes = static_cast<double>(resident_bytes() - before) /
                        static_cast<double>(grouper.open_stories());
}

void add_figures(JsonWriter& json, const SetFigures& figures) {
  json.begin_object().field("name", figures.name);
  json.field("headlines", figures.agreement.items).field("stories", figures.agreement.groups);
  app::write_agreement(json, figures.agreement);
  json.field("largest_ratio", figures.largest).end();
}

void add_sets(JsonWriter& json, const std::vector<SetFigures>& sets) {
  json.key("sets").begin_array();
  for (const SetFigures& set : sets) add_figures(json, set);
  json.end();
}

constexpr auto kHeader = "  {:<24}{:>10}{:>8}{:>8}{:>8}{:>10}{:>9}{:>10}\n";

std::string rows(const std::vector<SetFigures>& sets) {
  std::string table;
  for (const SetFigures& set : sets)
    table +=
        fmt::format("  {:<24}{:>10}{:>8.3f}{:>8.3f}{:>8.3f}{:>10.2f}{:>9.2f}{:>10.2f}\n", set.name,
                    set.agreement.items, set.agreement.bcubed.precision,
                    set.agreement.bcubed.recall, set.agreement.bcubed.f1(),
                    set.agreement.pairwise.precision, set.agreement.pairwise.recall, set.largest);
  return table;
}

std::string choices_table(const std::vector<StoriesFigures::Choice>& choices) {
  std::string table;
  for (const auto& choice : choices) {
    table += fmt::format("\n  {}: {} (mean F0.8 {:.4f})\n",
                         choice.without.empty() ? "best on all" : "without " + choice.without,
                         choice.settings, choice.mean_score);
    table += rows(choice.sets);
  }
  return table;
}

}  // namespace

Result<SetFigures> measure_set(const LabelledSet& set, const stories::Settings& settings,
                               const Model& model) {
  KIN_TRY(const auto placements, stories::group_all(set.items, settings, model));
  std::vector<std::uint64_t> groups;
  for (std::size_t i = set.measured_from; i < placements.size(); ++i)
    groups.push_back(number(placements[i].story));
  const std::vector<std::uint64_t> labels(
      set.labels.begin() + static_cast<std::ptrdiff_t>(set.measured_from), set.labels.end());
  return SetFigures{.name = set.name,
                    .family = set.family,
                    .agreement = stories::measure_agreement(groups, labels),
                    .largest = largest(groups) / largest(labels)};
}

Result<StoriesFigures> bench_stories(const StoriesBench& bench) {
  StoriesFigures figures;
  KIN_TRY(SetsFolder folder, read_input(bench));
  figures.missing = std::move(folder.missing);
  const auto data = app::data_folder("");
  KIN_TRY(const Model model, app::open_meaning(bench.meaning, data.ok() ? *data : ""));
  figures.has_meaning = model != nullptr;
  if (folder.sets.empty()) return figures;
  if (bench.tune) {
    KIN_TRY(figures.choices, tune(folder.sets, model));
    return figures;
  }
  for (const LabelledSet& set : folder.sets) {
    KIN_TRY(SetFigures found, measure_set(set, {}, model));
    figures.sets.push_back(std::move(found));
  }
  // The second half of a file, or of the first set of a folder.
  const LabelledSet& headlines = folder.sets[std::min<std::size_t>(1, folder.sets.size() - 1)];
  KIN_RETURN_IF_ERROR(measure_models(headlines, model, figures));
  std::vector<double> spent;
  for (int run = 0; run < bench.runs; ++run) spent.push_back(microseconds(headlines.items, model));
  figures.microseconds = median(spent);
  measure_many(headlines, bench.many, model, figures);
  return figures;
}

std::string to_json(const StoriesFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "stories").field("word_vectors", figures.has_meaning);
  json.key("missing").begin_array();
  for (const std::string& name : figures.missing) json.value(name);
  json.end();
  if (!figures.choices.empty()) {
    json.key("choices").begin_array();
    for (const auto& choice : figures.choices) {
      json.begin_object().field("without", choice.without).field("settings", choice.settings);
      json.field("mean_f0_8", choice.mean_score);
      add_sets(json, choice.sets);
      json.end();
    }
    return json.end().end().take();
  }
  add_sets(json, figures.sets);
  json.key("models").begin_object().field("trials", figures.model_trials);
  json.field("together", figures.model_together);
  json.field("strangers", figures.model_strangers).end();
  json.field("microseconds_per_headline", figures.microseconds);
  json.field("many_headlines", figures.many);
  json.field("microseconds_with_many", figures.many_microseconds);
  json.key("among_many").begin_object();
  app::write_agreement(json, figures.many_agreement);
  json.end();
  json.field("bytes_per_story", figures.story_bytes);
  return json.end().take();
}

std::string to_table(const StoriesFigures& figures) {
  std::string table = figures.has_meaning ? "With word vectors\n" : "Without word vectors\n";
  for (const std::string& name : figures.missing)
    table += fmt::format("  {} is not there and left out (name a folder that has it)\n", name);
  table += "\n" + fmt::format(kHeader, "", "headlines", "P", "R", "F1", "pairs: P", "R", "largest");
  if (!figures.choices.empty()) return table + choices_table(figures.choices);
  return table + rows(figures.sets) +
         fmt::format(
             "\n  the M4 headlines are one story in {} of {} trials, with {} strangers\n"
             "  {:.1f} µs of processor time a headline; {:.1f} µs beside {} others in three "
             "days,\n"
             "  {:.2f} times as much; {:.0f} bytes of memory a story there; the set's own "
             "headlines\n"
             "  among them have precision {:.3f}, recall {:.3f}, F1 {:.3f}\n",
             figures.model_together, figures.model_trials, figures.model_strangers,
             figures.microseconds, figures.many_microseconds, figures.many,
             figures.microseconds > 0 ? figures.many_microseconds / figures.microseconds : 0,
             figures.story_bytes, figures.many_agreement.bcubed.precision,
             figures.many_agreement.bcubed.recall, figures.many_agreement.bcubed.f1());
}

}  // namespace kin::bench
