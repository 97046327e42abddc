#include "app/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kin::app {

Option Option::type_name(std::string name) const {
  return Option(*option_->type_name(std::move(name)));
}

Option Option::required() const {
  return Option(*option_->required());
}

Option Option::needs(Option other) const {
  return Option(*option_->needs(other.option_));
}

Option Option::excludes(Option other) const {
  return Option(*option_->excludes(other.option_));
}

Option Option::capture_default_str() const {
  return Option(*option_->capture_default_str());
}

Option Option::default_str(std::string text) const {
  return Option(*option_->default_str(std::move(text)));
}

Option Option::expected(int count) const {
  return Option(*option_->expected(count));
}

Option Option::expected(int least, int most) const {
  return Option(*option_->expected(least, most));
}

Option Option::no_extra_args() const {
  return Option(*option_->allow_extra_args(false));
}

Option Option::delimiter(char separator) const {
  return Option(*option_->delimiter(separator));
}

Option Option::check(Check check) const {
  return Option(*option_->check(std::move(check)));
}

Option Option::range(int least, int most) const {
  return Option(*option_->check(CLI::Range(least, most)));
}

Option Option::range(double least, double most) const {
  return Option(*option_->check(CLI::Range(least, most)));
}

Option Option::non_negative() const {
  return Option(*option_->check(CLI::NonNegativeNumber));
}

Option Option::is_member(std::vector<std::string> words) const {
  return Option(*option_->check(CLI::IsMember(std::move(words))));
}

Verb Verb::add_subcommand(std::string name, std::string description) const {
  return Verb(*app_->add_subcommand(std::move(name), std::move(description)));
}

Verb Verb::footer(std::string text) const {
  return Verb(*app_->footer(std::move(text)));
}

Verb Verb::hide() const {
  return Verb(*app_->group(""));
}

Verb Verb::require_subcommand(std::size_t least, std::size_t most) const {
  return Verb(*app_->require_subcommand(least, most));
}

Verb Verb::set_version_flag(std::string name) const {
  app_->set_version_flag(std::move(name));
  return *this;
}

Verb Verb::group_options(std::string heading) const {
  app_->option_defaults()->group(std::move(heading));
  return *this;
}

template <typename T>
Option Verb::add_option(std::string name, T& value, std::string description) const {
  return Option(*app_->add_option(std::move(name), value, std::move(description)));
}

template Option Verb::add_option(std::string, std::string&, std::string) const;
template Option Verb::add_option(std::string, std::filesystem::path&, std::string) const;
template Option Verb::add_option(std::string, int&, std::string) const;
template Option Verb::add_option(std::string, std::uint32_t&, std::string) const;
template Option Verb::add_option(std::string, std::uint64_t&, std::string) const;
template Option Verb::add_option(std::string, double&, std::string) const;
template Option Verb::add_option(std::string, std::optional<std::string>&, std::string) const;
template Option Verb::add_option(std::string, std::optional<std::filesystem::path>&,
                                 std::string) const;
template Option Verb::add_option(std::string, std::optional<int>&, std::string) const;
template Option Verb::add_option(std::string, std::optional<std::uint16_t>&, std::string) const;
template Option Verb::add_option(std::string, std::optional<std::uint64_t>&, std::string) const;
template Option Verb::add_option(std::string, std::optional<double>&, std::string) const;
template Option Verb::add_option(std::string, std::vector<std::string>&, std::string) const;
template Option Verb::add_option(std::string, std::vector<std::filesystem::path>&,
                                 std::string) const;
template Option Verb::add_option(std::string, std::vector<std::uint64_t>&, std::string) const;

Option Verb::add_option_function(std::string name, std::function<void(const std::string&)> take,
                                 std::string description) const {
  return Option(*app_->add_option_function<std::string>(std::move(name), std::move(take),
                                                        std::move(description)));
}

Option Verb::add_flag(std::string name, bool& value, std::string description) const {
  return Option(*app_->add_flag(std::move(name), value, std::move(description)));
}

Option Verb::get_option(const std::string& name) const {
  return Option(*app_->get_option(name));
}

bool Verb::parsed() const {
  return app_->parsed();
}

std::size_t Verb::count(const std::string& option) const {
  return app_->count(option);
}

const std::string& Verb::get_name() const {
  return app_->get_name();
}

std::string Verb::get_description() const {
  return app_->get_description();
}

bool Verb::has_option(const std::string& name) const {
  return app_->get_option_no_throw(name) != nullptr;
}

std::vector<std::string> Verb::long_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  return names;
}

std::string Verb::help() const {
  return app_->help();
}

CommandLine::CommandLine(std::string name, std::string description)
    : app_(std::make_unique<CLI::App>(std::move(description), std::move(name))) {}

CommandLine::~CommandLine() = default;

}  // namespace kin::app
