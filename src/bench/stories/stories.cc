#include "bench/stories/stories.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "app/headlines.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/measure.h"
#include "stories/group_all.h"

namespace kin::bench {
namespace {

using stories::Item;
using stories::ItemId;

struct Labelled {
  std::vector<Item> items;
  std::vector<std::uint64_t> labels;

  void add(const Item& item, std::uint64_t label) {
    items.push_back(item);
    items.back().id = ItemId{items.size() - 1};
    labels.push_back(label);
  }
};

Result<Labelled> read_half(const StoriesBench& bench) {
  app::HeadlineColumns columns;
  columns.label = bench.label;
  KIN_TRY(const app::Headlines all, app::read_headlines(std::array{bench.input}, columns));
  std::vector<std::size_t> order(all.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all.items[i].published_at; });
  const bool second = bench.half == "second";
  const std::size_t middle = order.size() / 2;
  Labelled half;
  for (std::size_t i = second ? middle : 0; i < (second ? order.size() : middle); ++i) {
    const Item& item = all.items[order[i]];
    half.add({.title = item.title, .published_at = item.published_at}, all.labels[order[i]]);
  }
  if (half.items.size() >= 500) return half;
  return Error{Code::kInvalidArgument,
               fmt::format("{} has too few headlines: half of them should be 500", bench.input)};
}

Result<stories::AgreementFigures> measure(const Labelled& headlines) {
  KIN_TRY(const auto placements, stories::group_all(headlines.items, {}));
  return app::agreement_of(placements, headlines.labels);
}

Result<StoriesFigures::Sample> measure_sample(const Labelled& headlines, std::uint64_t every) {
  StoriesFigures::Sample sample{.every = every};
  for (std::size_t offset = 0; offset < every; ++offset) {
    Labelled kept;
    for (std::size_t i = offset; i < headlines.items.size(); i += every)
      kept.add(headlines.items[i], headlines.labels[i]);
    KIN_TRY(const auto figures, measure(kept));
    // The mean says how much the first one owes to chance.
    if (offset == 0) sample.first = figures;
    const auto share = 1.0 / static_cast<double>(every);
    sample.mean.precision += share * figures.bcubed.precision;
    sample.mean.recall += share * figures.bcubed.recall;
    sample.mean_f1 += share * figures.bcubed.f1();
  }
  return sample;
}

Labelled shuffled(const Labelled& headlines, std::uint64_t seed) {
  std::vector<std::size_t> order(headlines.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  shuffle(order, random);
  Labelled result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Item item = headlines.items[order[i]];
    // Other headlines at the same times, so that the pace stays.
    item.published_at = headlines.items[i].published_at;
    result.add(item, headlines.labels[order[i]]);
  }
  return result;
}

constexpr std::array kTogether{"Apple announces M4 chips for Mac", "Apple reveals M4 Mac Mini",
                               "New Mac Mini with M4 chip", "Apple's M4 Mac Mini announced"};
constexpr std::array kStrangers{
    "Apple announces M4 iPad Pro", "Apple unveils new AirPods Pro with better noise cancelling",
    "Intel announces new laptop chips", "Samsung reveals Galaxy Book with new chip"};

// One minute apart, in an order and with distances that `random` chooses. Labels: 1 for the four, 2
// for the strangers.
Labelled with_models(const Labelled& headlines, std::size_t from, Random& random) {
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
  Labelled result;
  for (const auto& [title, label] : titles)
    result.add({.title = title,
                .published_at = static_cast<stories::UnixSeconds>(result.items.size() * 60)},
               label);
  return result;
}

Status measure_models(const Labelled& headlines, StoriesFigures& figures) {
  constexpr int kTrials = 40;
  figures.model_trials = kTrials;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const Labelled mixed = with_models(headlines, random.below(headlines.items.size()), random);
    KIN_TRY(const auto placements, stories::group_all(mixed.items, {}));
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

double microseconds(const std::vector<Item>& items) {
  stories::Grouper grouper;
  const double start = thread_seconds();
  for (const Item& item : items) grouper.add(item);
  return 1e6 * (thread_seconds() - start) / static_cast<double>(items.size());
}

// Titles of the file with their words exchanged for those of other titles, so that most open a
// story of their own: what a reader of very many feeds has open at once.
std::vector<Item> many_stories(const Labelled& headlines, std::size_t count) {
  std::vector<std::string> words;
  for (const Item& item : headlines.items) {
    for (std::size_t at = 0; at < item.title.size();) {
      const std::size_t end = std::min(item.title.find(' ', at), item.title.size());
      if (end > at) words.push_back(item.title.substr(at, end - at));
      at = end + 1;
    }
  }
  Random random(7);
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) {
    Item item{.id = ItemId{i}, .title = {}, .published_at = static_cast<stories::UnixSeconds>(i)};
    for (int k = 0; k < 9; ++k) item.title += words[random.below(words.size())] + " ";
    items.push_back(std::move(item));
  }
  return items;
}

void measure_speed(const Labelled& headlines, int runs, StoriesFigures& figures) {
  std::vector<double> spent;
  for (int run = 0; run < runs; ++run) spent.push_back(microseconds(headlines.items));
  figures.microseconds = median(spent);
  figures.open_microseconds = microseconds(many_stories(headlines, 100'000));
}

void add_figures(JsonWriter& json, const stories::AgreementFigures& figures) {
  json.field("headlines", figures.items).field("stories", figures.groups);
  app::write_agreement(json, figures);
}

}  // namespace

Result<StoriesFigures> bench_stories(const StoriesBench& bench) {
  KIN_TRY(const Labelled headlines, read_half(bench));
  StoriesFigures figures;
  figures.half = bench.half;
  for (const std::uint64_t every : {1, 5, 20}) {
    KIN_TRY(auto sample, measure_sample(headlines, every));
    figures.samples.push_back(std::move(sample));
  }
  KIN_TRY(figures.shuffled, measure(shuffled(headlines, 1)));
  KIN_RETURN_IF_ERROR(measure_models(headlines, figures));
  measure_speed(headlines, bench.runs, figures);
  return figures;
}

std::string to_json(const StoriesFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "stories").field("half", figures.half);
  json.key("samples").begin_array();
  for (const auto& sample : figures.samples) {
    json.begin_object().field("every", sample.every);
    add_figures(json, sample.first);
    json.field("mean_bcubed_precision", sample.mean.precision);
    json.field("mean_bcubed_recall", sample.mean.recall);
    json.field("mean_bcubed_f1", sample.mean_f1).end();
  }
  json.end().key("shuffled").begin_object();
  add_figures(json, figures.shuffled);
  json.end().key("models").begin_object().field("trials", figures.model_trials);
  json.field("together", figures.model_together);
  json.field("strangers", figures.model_strangers).end();
  json.field("microseconds_per_headline", figures.microseconds);
  json.field("microseconds_with_many_stories", figures.open_microseconds);
  return json.end().take();
}

std::string to_table(const StoriesFigures& figures) {
  std::string table = fmt::format("Titles of the {} half\n\n  {:<20}{:>10}{:>9}{:>9}{:>9}{:>12}\n",
                                  figures.half, "", "headlines", "P", "R", "F1", "pair F1");
  const auto row = [&](const std::string& name, const stories::AgreementFigures& found) {
    table += fmt::format("  {:<20}{:>10}{:>9.4f}{:>9.4f}{:>9.4f}{:>12.4f}\n", name, found.items,
                         found.bcubed.precision, found.bcubed.recall, found.bcubed.f1(),
                         found.pairwise.f1());
  };
  for (const auto& sample : figures.samples) {
    row(sample.every == 1 ? "all" : fmt::format("one in {}", sample.every), sample.first);
    if (sample.every > 1)
      table += fmt::format("  {:<20}{:>10}{:>9.4f}{:>9.4f}{:>9.4f}\n", "  mean of all", "",
                           sample.mean.precision, sample.mean.recall, sample.mean_f1);
  }
  row("in random order", figures.shuffled);
  return table +
         fmt::format(
             "\n  the M4 headlines are one story in {} of {} trials, with {} strangers\n"
             "  {:.1f} µs a headline; {:.1f} µs with 100,000 headlines, most of them alone\n",
             figures.model_together, figures.model_trials, figures.model_strangers,
             figures.microseconds, figures.open_microseconds);
}

}  // namespace kin::bench
