#include "app/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace kin::app {
namespace {

// The part after the first `separator`; the whole text if there is none.
std::string after(const std::string& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  return at == std::string::npos ? text : text.substr(at + separator.size());
}

std::string before(const std::string& text, std::string_view separator) {
  return text.substr(0, text.find(separator));
}

// CLI11 gives the details of an error only in the text of its message, so that is parsed.
bool wants_verb(const CLI::RequiredError& error) {
  return std::string_view(error.what()).starts_with("A subcommand");
}

std::string missing(const CLI::RequiredError& error, Verb verb) {
  if (!wants_verb(error)) return before(error.what(), " is required") + " is missing";
  std::vector<std::string> known;
  for (const Verb each : verbs_in(verb)) known.push_back(each.get_name());
  const std::vector<std::string> unknown = verb.parser().remaining();
  return fmt::format("\"{}\" is not a command of {}; choose one of: {}",
                     unknown.empty() ? "" : unknown.front(), full_name(verb),
                     fmt::join(known, ", "));
}

std::string unexpected(const CLI::ExtrasError& error) {
  const std::string what = after(error.what(), "expected: ");
  return (what.starts_with("-") ? "there is no option " : "too many arguments: ") + what;
}

// "Could not convert: --json = x"
std::string not_converted(const CLI::ConversionError& error) {
  const std::string what = after(error.what(), "convert: ");
  return fmt::format("{}: \"{}\" is not a value it can take", before(what, " = "),
                     after(what, " = "));
}

// "--threads: 1 required N missing", "--threads: At Most 1 required but received 2"
std::string wrong_count(const CLI::ArgumentMismatch& error) {
  const std::string what = error.what();
  const std::string name = before(what, ":");
  if (what.ends_with(" missing"))
    return fmt::format("{} needs a value: {}", name, before(after(what, " required "), " missing"));
  if (what.find("At Most 1 ") != std::string::npos)
    return fmt::format("{} was given {} times, and takes one value", name,
                       after(what, "received "));
  return what;
}

bool lacks_verb(const CLI::ParseError& error, Verb app) {
  const auto* required = dynamic_cast<const CLI::RequiredError*>(&error);
  return required != nullptr && wants_verb(*required) &&
         chosen_verb(app).parser().remaining().empty();
}

std::string in_plain_words(const CLI::ParseError& error, Verb app) {
  if (const auto* required = dynamic_cast<const CLI::RequiredError*>(&error))
    return missing(*required, chosen_verb(app));
  if (const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error))
    return unexpected(*extras);
  if (const auto* conversion = dynamic_cast<const CLI::ConversionError*>(&error))
    return not_converted(*conversion);
  if (const auto* count = dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return wrong_count(*count);
  return error.what();
}

}  // namespace

std::string full_name(Verb verb) {
  CLI::App* parent = verb.parser().get_parent();
  return parent == nullptr ? verb.get_name() : full_name(Verb(*parent)) + " " + verb.get_name();
}

std::vector<Verb> verbs_in(Verb app) {
  std::vector<Verb> verbs;
  for (CLI::App* verb :
       app.parser().get_subcommands([](CLI::App* each) { return !each->get_group().empty(); }))
    verbs.emplace_back(*verb);
  return verbs;
}

Verb chosen_verb(Verb app) {
  CLI::App* verb = &app.parser();
  for (auto parsed = verb->get_subcommands(); !parsed.empty(); parsed = verb->get_subcommands())
    verb = parsed.back();
  return Verb(*verb);
}

Result<Asked> parse(Verb app, std::vector<std::string> arguments) {
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app.parser().parse(std::move(arguments));
    return Asked::kVerb;
    // CLI11 throws for --help and --version too.
  } catch (const CLI::CallForVersion&) {
    return Asked::kVersion;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return Asked::kHelp;
    if (lacks_verb(error, app)) return Asked::kNothing;
    return Error{Code::kInvalidArgument, in_plain_words(error, app)};
  }
}

}  // namespace kin::app
