#include "app/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "app/columns.h"

namespace kin::app {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMeaning = 30;  // the column where meanings begin

// Folded at spaces. A word that is longer than a line has a line of its own.
std::vector<std::string> folded(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (display_columns(line) + 1 + display_columns(word) <= width)
      line.append(" ").append(word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

// Lines that follow each other without an indent are one paragraph, folded again; others stay as
// they are.
std::string folded_prose(const std::string& text, std::size_t width) {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += fmt::format("{}\n", fmt::join(folded(paragraph, width), "\n"));
    paragraph.clear();
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == ' ') {
      end_paragraph();
      out.append(line).append("\n");
    } else {
      paragraph.append(paragraph.empty() ? "" : " ").append(line);
    }
  }
  end_paragraph();
  return out;
}

// Two columns; the meaning begins a line of its own where the left column is full.
std::string entry(const std::string& left, std::string_view meaning, std::size_t width) {
  std::string out = fmt::format("{:{}}{}", "", kIndent, left);
  const std::size_t used = kIndent + display_columns(left);
  if (meaning.empty()) return out + "\n";
  out += used < kMeaning ? std::string(kMeaning - used, ' ') : fmt::format("\n{:{}}", "", kMeaning);
  const std::string next_line = fmt::format("\n{:{}}", "", kMeaning);
  return out + fmt::format("{}\n", fmt::join(folded(meaning, width - kMeaning), next_line));
}

// What CLI11 calls the type of an option, with its checks behind colons: "UINT:INT in [0 - 10]",
// "TEXT:{size,load}".
struct Kind {
  std::string name;   // "N", "size|load"
  std::string range;  // "0 to 10", or empty
};

Kind kind_of(const CLI::Option& option) {
  std::string name = option.get_type_name();
  Kind kind;
  const std::size_t range = name.rfind(" in [");
  if (range != std::string::npos && name.ends_with(']')) {
    kind.range = name.substr(range + 5, name.size() - range - 6);
    const std::size_t dash = kind.range.find(" - ");
    if (dash != std::string::npos) kind.range.replace(dash, 3, " to ");
    name.erase(name.rfind(':', range));
  }
  const std::size_t choice = name.find(":{");
  if (choice != std::string::npos && name.ends_with('}')) {
    std::string words = name.substr(choice + 2, name.size() - choice - 3);
    std::ranges::replace(words, ',', '|');
    name.erase(choice);
    if (name == "TEXT") name = words;
  }
  kind.name = name == "INT" || name == "UINT" ? "N" : name == "FLOAT" ? "NUMBER" : name;
  return kind;
}

std::string meaning_of(const CLI::Option& option, const Kind& kind) {
  const std::string& text = option.get_description();
  std::vector<std::string> notes;
  if (option.get_required() && !option.get_positional()) notes.emplace_back("required");
  if (!kind.range.empty()) notes.push_back(kind.range);
  const bool told = text.find("default") != std::string::npos;
  if (!option.get_default_str().empty() && !told)
    notes.push_back("default: " + option.get_default_str());
  for (const CLI::Option* other : option.get_needs()) {
    if (text.find(other->get_name()) == std::string::npos)
      notes.push_back("with " + other->get_name());
  }
  return notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, "; "));
}

class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const Kind kind = kind_of(*option);
    std::string left = make_option_name(option, is_positional);
    const std::size_t comma = left.find(',');
    if (!is_positional && comma != std::string::npos) left.insert(comma + 1, " ");
    // How CLI11 writes a flag that switches something off.
    if (const std::size_t off = left.find("{false}"); off != std::string::npos) left.erase(off, 7);
    const bool takes_value = option->get_type_size() != 0;
    if (takes_value && !is_positional && !kind.name.empty()) left += " " + kind.name;
    if (takes_value && option->get_expected_max() == CLI::detail::expected_max_vector_size)
      left += " ...";
    return entry(left, meaning_of(*option, kind), width_);
  }

  std::string make_subcommand(const CLI::App* verb) const override {
    return entry(verb->get_display_name(true), verb->get_description(), width_);
  }

  std::string make_footer(const CLI::App* app) const override {
    return folded_prose(app->get_footer(), width_);
  }

  // CLI11 puts two empty lines between groups.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string out = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = out.find("\n\n\n", at)) != std::string::npos;) out.erase(at, 1);
    return out;
  }

 private:
  std::size_t width_;
};

}  // namespace

std::size_t help_columns() {
  constexpr std::size_t kNarrowest = 60, kWidest = 110, kOfFiles = 100;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kOfFiles;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

void use_help_text(Verb app, std::size_t columns) {
  const auto help = std::make_shared<HelpText>(columns);
  help->label("Positionals", "Arguments");
  app.parser().formatter(help);
}

}  // namespace kin::app
