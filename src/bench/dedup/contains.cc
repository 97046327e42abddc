#include "bench/dedup/contains.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "bench/dedup/prose.h"
#include "bench/measure.h"
#include "dedup/contains.h"

namespace kin::bench {
namespace {

// Pieces of `stock` from random places, `bytes` bytes in all.
std::string pieces_of(const std::string& stock, std::uint64_t bytes, Random& random) {
  std::string text;
  while (text.size() < bytes) {
    const std::size_t begin = random.below(stock.size());
    const std::size_t most = std::min<std::size_t>(bytes - text.size(), bytes / 4 + 1);
    text += stock.substr(begin, most);
    text += ' ';
  }
  return text;
}

}  // namespace

Result<ContainsFigures> bench_contains(const ContainsBench& bench) {
  Random random(bench.seed);
  std::string stock;
  Prose().append(random, bench.stock_bytes, stock);
  std::vector<dedup::ReferenceText> references(bench.references);
  for (std::size_t i = 0; i < references.size(); ++i) {
    references[i].row = i;
    references[i].text = pieces_of(stock, bench.reference_bytes, random);
  }
  ContainsFigures figures{.records = bench.records,
                          .references = bench.references,
                          .bytes = bench.bytes,
                          .reference_bytes = bench.reference_bytes};
  dedup::DedupOptions options;
  options.contains = bench.share;
  const double begun = thread_seconds();
  const auto index = dedup::ContainIndex::make(options, std::move(references));
  dedup::ContainIndex::Matcher matcher(*index);
  figures.index_seconds = thread_seconds() - begun;
  for (std::uint64_t i = 0; i < bench.records; ++i) {
    const std::string text = pieces_of(stock, bench.bytes, random);
    const double before = thread_seconds();
    const auto found = matcher.find(text);
    figures.search_seconds += thread_seconds() - before;
    figures.contained += found ? 1 : 0;
    figures.found_digest = hash64(found ? found->encode() : "", figures.found_digest);
  }
  return figures;
}

std::string to_json(const ContainsFigures& figures) {
  JsonWriter json(2);
  return json.begin_object()
      .field("records", figures.records)
      .field("references", figures.references)
      .field("bytes", figures.bytes)
      .field("reference_bytes", figures.reference_bytes)
      .field("index_seconds", figures.index_seconds)
      .field("search_seconds", figures.search_seconds)
      .field("contained", figures.contained)
      .field("found_digest", fmt::format("{:016x}", figures.found_digest))
      .end()
      .take();
}

std::string to_table(const ContainsFigures& figures) {
  const auto records = static_cast<double>(std::max<std::uint64_t>(figures.records, 1));
  return fmt::format(
      "{} records of {} bytes, {} references of {} bytes\n"
      "index {:.2f} s, search {:.2f} s ({:.2f} ms a record), {} contain a reference, found "
      "{:016x}\n",
      figures.records, figures.bytes, figures.references, figures.reference_bytes,
      figures.index_seconds, figures.search_seconds, figures.search_seconds / records * 1e3,
      figures.contained, figures.found_digest);
}

}  // namespace kin::bench
