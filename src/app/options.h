// The verbs of a command line and their options. CLI11 parses them. Its header takes seconds to
// compile, so verbs include this one; the names are CLI11's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kin::app {

// A check returns an empty string if the value is valid, else a message that follows the option's
// name. checks.h has some.
using Check = std::function<std::string(const std::string&)>;

// An option, a flag or an argument. A handle: copies stand for the same option, which lives as long
// as the CommandLine of its verb. Each function returns the option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // The name of its value in the help: "FILE". Empty: none.
  Option type_name(std::string name) const;
  Option required() const;
  // It can be given only together with `other`.
  Option needs(Option other) const;
  // It cannot be given together with `other`.
  Option excludes(Option other) const;

  // Shows the present value of its variable as the default.
  Option capture_default_str() const;
  // Shows this as the default; it is the value of an option that is given without one.
  Option default_str(std::string text) const;

  // The number of values that it takes, each time for an option that collects values.
  Option expected(int count) const;
  Option expected(int least, int most) const;
  // Collects one value each time that it is given: the word after that is not another.
  Option no_extra_args() const;
  // Separates values within a word.
  Option delimiter(char separator) const;

  Option check(Check check) const;
  // The checks of CLI11, which the help shows: limits, both included, and words.
  Option range(int least, int most) const;
  Option range(double least, double most) const;
  Option non_negative() const;
  Option is_member(std::vector<std::string> words) const;

 private:
  CLI::Option* option_;
};

// A program, or a verb of it. A handle: copies stand for the same verb, which lives as long as its
// CommandLine.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  Verb add_subcommand(std::string name, std::string description) const;
  // The text below the options in the help.
  Verb footer(std::string text) const;
  // Neither the help nor completions show it.
  Verb hide() const;
  // How many verbs of this one the user has to choose.
  Verb require_subcommand(std::size_t least, std::size_t most) const;
  // A flag for which parse() of usage.h returns kVersion.
  Verb set_version_flag(std::string name) const;
  // The heading of the options that are added from here on.
  Verb group_options(std::string heading) const;

  // Parsing fills `value`, which outlives it. A name without a dash is an argument's. options.cc
  // lists the types that values have; the linker misses others.
  template <typename T>
  Option add_option(std::string name, T& value, std::string description = {}) const;
  // Calls `take` with the value.
  Option add_option_function(std::string name, std::function<void(const std::string&)> take,
                             std::string description) const;
  // "--one,!--many": --many sets the variable to false.
  Option add_flag(std::string name, bool& value, std::string description) const;
  // An option of this verb that was added already.
  Option get_option(const std::string& name) const;

  // After parsing: whether the user chose this verb, and how often an option was given.
  bool parsed() const;
  std::size_t count(const std::string& option) const;

  const std::string& get_name() const;
  std::string get_description() const;
  bool has_option(const std::string& name) const;
  // The names of its options that begin with two dashes, without these.
  std::vector<std::string> long_names() const;
  std::string help() const;

  // For the few files that include CLI11.
  CLI::App& parser() const { return *app_; }

 private:
  CLI::App* app_;
};

// The owner of a program's verbs and options. One thread only.
class CommandLine {
 public:
  CommandLine(std::string name, std::string description);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  // The program, to which verbs are added.
  Verb program() const { return Verb(*app_); }

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kin::app
