#include "app/search/print.h"

#include <fmt/format.h>

#include "app/print.h"
#include "app/words.h"

namespace kin::app {
namespace {

using search::AnswerHit;

constexpr std::size_t kShownValues = 12;

struct Ink {
  std::string_view bold;
  std::string_view mark;
  std::string_view faint;
  std::string_view plain;
};

Ink ink() {
  if (!wants_colours()) return {};
  return {"\x1b[1m", "\x1b[1;33m", "\x1b[2m", "\x1b[0m"};
}

std::string shown(const search::MarkedText& text, const Ink& ink, std::string_view base) {
  std::string out;
  for (const search::MarkedPart& part : text)
    // After a mark the style of the text around it is set again.
    out += part.mark ? fmt::format("{}{}{}{}", ink.mark, harmless(part.text), ink.plain, base)
                     : harmless(part.text);
  return out;
}

std::string legs_of(const AnswerHit& hit) {
  std::string out;
  for (const index::LegScore& leg : hit.legs) {
    out += fmt::format("{}{} {:.3g}", out.empty() ? "" : "  ", search::name_of(leg.leg), leg.score);
    if (leg.rank > 0) out += fmt::format(" (rank {})", leg.rank);
  }
  return out;
}

std::string trace_of(const search::AnswerTrace& trace) {
  std::string out = fmt::format("by {}, {} link{} away:", harmless(trace.by), trace.hops,
                                trace.hops == 1 ? "" : "s");
  for (const search::AnswerEdge& edge : trace.edges)
    out += fmt::format(" {} -{}-> {}", harmless(edge.from), harmless(edge.name), harmless(edge.to));
  return out;
}

std::string reason_of(const search::AnswerReason& why) {
  std::string out;
  for (const search::AnswerTerm& term : why.terms)
    out +=
        fmt::format("      {:<20} {:>7.3f}  {} times here, in {} documents\n", harmless(term.term),
                    term.score, term.frequency, with_commas(term.documents));
  if (why.similarity) out += fmt::format("      {:<20} {:>7.3f}\n", "similarity", *why.similarity);
  return out;
}

std::string heading(const AnswerHit& hit) {
  if (hit.name.empty()) return harmless(hit.document.id);
  return fmt::format("{} -{}-> {}", harmless(hit.document.id), harmless(hit.name),
                     harmless(hit.to));
}

void add_hit(std::string& out, const AnswerHit& hit, std::size_t place, const Ink& ink) {
  const std::string title = shown(hit.title, ink, ink.bold);
  out += fmt::format("{:>3}. {}{}{}\n", place, ink.bold, title.empty() ? heading(hit) : title,
                     ink.plain);
  const std::string snippet = shown(hit.snippet, ink, "");
  if (!snippet.empty()) out += fmt::format("     {}\n", snippet);
  out += fmt::format("     {}{}  {:.4g}  {}", ink.faint, heading(hit), hit.score, legs_of(hit));
  for (const std::string& tag : hit.document.tags) out += " #" + harmless(tag);
  out += fmt::format("{}\n", ink.plain);
  if (hit.trace) out += fmt::format("     {}{}{}\n", ink.faint, trace_of(*hit.trace), ink.plain);
  if (hit.why) out += reason_of(*hit.why);
}

}  // namespace

std::string to_words(const search::Answer& answer, std::size_t offset) {
  const Ink colours = ink();
  std::string out;
  for (std::size_t i = 0; i < answer.hits.size(); ++i)
    add_hit(out, answer.hits[i], offset + i + 1, colours);
  for (const index::FacetCounts& facet : answer.facets) {
    if (facet.values.empty()) continue;
    out += fmt::format("\n{}\n", facet.name);
    for (std::size_t i = 0; i < std::min(facet.values.size(), kShownValues); ++i)
      out += fmt::format("{:>10}  {}\n", with_commas(facet.values[i].count),
                         harmless(facet.values[i].value));
  }
  if (answer.hits.empty()) out += "nothing found\n";
  const std::string all =
      answer.count ? fmt::format(" of {}", with_commas(*answer.count)) : std::string();
  out += fmt::format("\n{}{} in {:.1f} ms ({})\n", answer.hits.size(), all, answer.milliseconds,
                     answer.mode);
  if (answer.behind)
    out += fmt::format("a node is silent: changes of the last {:.1f} s may be missing\n",
                       std::chrono::duration<double>(*answer.behind).count());
  return out;
}

std::string path_to_words(const std::optional<search::Path>& path,
                          const search::PathQuestion& question) {
  if (!path)
    return fmt::format("no path from {} to {} over at most {} links\n", harmless(question.from),
                       harmless(question.to), question.hops);
  const Ink colours = ink();
  std::string out;
  for (std::size_t i = 0; i < path->nodes.size(); ++i) {
    const search::PathNode& node = path->nodes[i];
    out += fmt::format("{}{}{}  {}\n", colours.bold, harmless(node.id), colours.plain,
                       harmless(node.title));
    if (i == path->edges.size()) break;
    const search::AnswerEdge& edge = path->edges[i];
    const bool forward = edge.from == node.id;
    out += fmt::format("  {}{}{}{}{}\n", colours.faint, forward ? "-" : "<-", harmless(edge.name),
                       forward ? "->" : "-", colours.plain);
  }
  return out;
}

}  // namespace kin::app
