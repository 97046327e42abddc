#include "app/dedup/metrics.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json_writer.h"

namespace kin::app {
namespace {

using dedup::Action;
using dedup::IngestReport;

// A figure with the same meaning in both formats.
struct Figure {
  const char* name;
  const char* what;
  double value;
};

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<Figure> figures_of(const IngestReport& report) {
  const std::uint64_t decided = report.documents - report.count(Action::kSkip);
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const store::StoreFigures& stores = report.stores;
  return {
      {"documents", "Documents that were read", number(report.documents)},
      {"kept", "Documents that were kept",
       number(report.count(Action::kKeep) + report.count(Action::kKeepLink))},
      {"linked", "Kept documents that share chunks with others",
       number(report.count(Action::kKeepLink))},
      {"dropped", "Duplicates that were dropped", number(report.count(Action::kDrop))},
      {"skipped", "Documents that the ledger had", number(report.count(Action::kSkip))},
      {"lost_races", "Documents dropped for one that another worker brought at the same time",
       number(report.lost_races)},
      {"duplication_rate", "Share of the decided documents that were dropped",
       share(report.count(Action::kDrop), decided)},
      {"cross_source_rate", "Share of the decided documents dropped for one of another source",
       share(report.cross_source, decided)},
      {"chunk_reuse_rate", "Share of chunks that other documents have",
       share(report.reused_chunks, report.chunks)},
      {"documents_with_candidates", "Documents that share a key with a stored one",
       number(stores.documents_with_candidates)},
      {"content_hits", "Documents whose text a stored one has", number(stores.hits.content)},
      {"minhash_hits", "Documents that share shingles or a band with a stored one",
       number(stores.hits.minhash)},
      {"simhash_hits", "Documents whose SimHash is near that of a stored one",
       number(stores.hits.simhash)},
      {"chunk_hits", "Documents that share a chunk with a stored one", number(stores.hits.chunk)},
      {"requests", "Requests to the services of the stores, with retries",
       number(stores.requests.requests)},
      {"retries", "Requests that were sent again", number(stores.requests.retries)},
      {"throttles", "Requests that were answered with too many requests",
       number(stores.requests.throttles)},
      {"cache_hits", "Documents that the cache had", number(stores.cache.hits)},
      {"cache_misses", "Documents that the cache did not have", number(stores.cache.misses)},
      {"cache_failures", "Calls of the cache that failed", number(stores.cache.failures)},
      {"seconds", "Time that the run took", report.seconds},
  };
}

// Escapes the characters that have a meaning in a label's value.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

void add_call(std::string& text, const std::string& labels, const store::CallFigures& figures) {
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < figures.by_seconds.size(); ++i) {
    so_far += figures.by_seconds[i];
    const bool last = i == store::kCallSeconds.size();
    text += fmt::format("kindred_store_call_seconds_bucket{{{},le=\"{}\"}} {}\n", labels,
                        last ? "+Inf" : fmt::format("{}", store::kCallSeconds[i]), so_far);
  }
  text += fmt::format("kindred_store_call_seconds_sum{{{}}} {}\n", labels, figures.seconds);
  text += fmt::format("kindred_store_call_seconds_count{{{}}} {}\n", labels, figures.calls);
}

}  // namespace

std::string to_prometheus(const IngestReport& report) {
  const std::string run = fmt::format("run=\"{}\"", escaped(report.run));
  std::string text;
  for (const Figure& figure : figures_of(report)) {
    text += fmt::format("# HELP kindred_run_{0} {1}\n# TYPE kindred_run_{0} gauge\n", figure.name,
                        figure.what);
    text += fmt::format("kindred_run_{}{{{}}} {}\n", figure.name, run, figure.value);
  }
  text += "# HELP kindred_store_call_seconds How long calls of the stores took\n";
  text += "# TYPE kindred_store_call_seconds histogram\n";
  for (const auto& [name, figures] : report.stores.calls)
    add_call(text, fmt::format("{},call=\"{}\"", run, name), figures);
  return text;
}

std::string to_embedded_metrics(const IngestReport& report, WallTime now) {
  std::vector<std::pair<std::string, double>> values;
  for (const Figure& figure : figures_of(report)) values.emplace_back(figure.name, figure.value);
  for (const auto& [name, figures] : report.stores.calls) {
    values.emplace_back(name + "_calls", static_cast<double>(figures.calls));
    values.emplace_back(name + "_seconds", figures.seconds);
  }
  JsonWriter json;
  json.begin_object().key("_aws").begin_object();
  json.field("Timestamp", now.time_since_epoch().count());
  json.key("CloudWatchMetrics").begin_array().begin_object().field("Namespace", "Kindred");
  json.key("Dimensions").begin_array().begin_array().value("run").end().end();
  json.key("Metrics").begin_array();
  for (const auto& [name, value] : values) json.begin_object().field("Name", name).end();
  json.end().end().end().end().field("run", report.run);
  for (const auto& [name, value] : values) json.field(name, value);
  return json.end().take() + "\n";
}

Status write_metrics(const std::filesystem::path& file, const IngestReport& report, WallTime now) {
  const bool json = file.extension() == ".json";
  return write_file_atomically(file,
                               json ? to_embedded_metrics(report, now) : to_prometheus(report));
}

}  // namespace kin::app
