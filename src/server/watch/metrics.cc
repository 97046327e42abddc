#include "server/watch/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <filesystem>
#include <iterator>

#include "base/memory.h"

namespace kin::server {
namespace {

using prometheus::BuildHistogram;
using Times = prometheus::Family<prometheus::Histogram>;
using Counts = prometheus::Family<prometheus::Counter>;

// Seconds, from an answer out of memory to the time after which callers give up.
const prometheus::Histogram::BucketBoundaries kBounds{
    0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30};

Times& family(prometheus::Registry& registry, const char* name, const char* help) {
  return BuildHistogram().Name(name).Help(help).Register(registry);
}

Counts& counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

void observe(Times& times, const prometheus::Labels& labels, std::chrono::nanoseconds took) {
  times.Add(labels, kBounds).Observe(std::chrono::duration<double>(took).count());
}

std::size_t open_files() {
  std::error_code problem;
  std::filesystem::directory_iterator files("/proc/self/fd", problem);
  // Where the system does not tell, the figure is 0.
  return problem ? 0 : static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::vector<Gauge> gauges_of_process() {
  return {{.name = "process_resident_memory_bytes",
           .help = "Resident memory in bytes.",
           .value = static_cast<double>(resident_bytes())},
          {.name = "process_heap_used_bytes",
           .help = "Memory that the program has allocated, in bytes.",
           .value = static_cast<double>(allocated_bytes())},
          {.name = "process_open_fds",
           .help = "Open file descriptors.",
           .value = static_cast<double>(open_files())}};
}

void add(const std::vector<Gauge>& gauges, std::vector<prometheus::MetricFamily>& families) {
  for (const Gauge& gauge : gauges) {
    if (families.empty() || families.back().name != gauge.name)
      families.push_back({.name = gauge.name,
                          .help = gauge.help,
                          .type = prometheus::MetricType::Gauge,
                          .metric = {}});
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : gauge.labels) metric.label.push_back({name, value});
    metric.gauge.value = gauge.value;
    families.back().metric.push_back(std::move(metric));
  }
}

}  // namespace

struct Metrics::State {
  prometheus::Registry registry;
  Times& requests =
      family(registry, "kindred_http_request_seconds", "Requests over HTTP that were answered.");
  Times& calls = family(registry, "kindred_node_call_seconds", "Calls of this router to nodes.");
  Times& stale =
      family(registry, "kindred_stale_read_behind_seconds",
             "How old the states were that followers answered reads from, which they did because "
             "the owner of a shard was slow, silent or away.");
  Counts& asked = counters(registry, "kindred_follower_calls",
                           "Calls to followers because the owner of a shard was slow, silent or "
                           "away.");
  Counts& answered = counters(registry, "kindred_follower_answers",
                              "Calls to followers whose answer was used.");
  Times& served = family(registry, "kindred_served_call_seconds", "Calls that this node served.");
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::answered(std::string_view route, std::string_view method, int status,
                       std::chrono::nanoseconds took) {
  observe(state_->requests,
          {{"route", std::string(route)},
           {"method", std::string(method)},
           {"status", std::to_string(status)}},
          took);
}

void Metrics::called(std::string_view node, std::string_view kind, std::string_view outcome,
                     std::chrono::nanoseconds took) {
  observe(
      state_->calls,
      {{"node", std::string(node)}, {"call", std::string(kind)}, {"outcome", std::string(outcome)}},
      took);
}

void Metrics::asked_follower(std::string_view index, std::string_view why) {
  state_->asked.Add({{"index", std::string(index)}, {"why", std::string(why)}}).Increment();
}

void Metrics::follower_answered(std::string_view index, std::string_view why) {
  state_->answered.Add({{"index", std::string(index)}, {"why", std::string(why)}}).Increment();
}

void Metrics::read_stale(std::string_view index, std::chrono::nanoseconds behind) {
  observe(state_->stale, {{"index", std::string(index)}}, behind);
}

void Metrics::served(std::string_view index, std::string_view kind, std::string_view outcome,
                     std::chrono::nanoseconds took) {
  observe(state_->served,
          {{"index", std::string(index)},
           {"call", std::string(kind)},
           {"outcome", std::string(outcome)}},
          took);
}

std::string Metrics::text(const std::vector<Gauge>& gauges) const {
  std::vector<prometheus::MetricFamily> families = state_->registry.Collect();
  add(gauges_of_process(), families);
  add(gauges, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace kin::server
