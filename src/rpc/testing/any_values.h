// Random values of every type that travels, and a text for each value that tells it apart. Both
// follow the descriptions of rpc/wire, but not the messages.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "base/random.h"
#include "rpc/wire/node_messages.h"

namespace kin::rpc {

// Fills values. One thread only.
class Filler {
 public:
  template <typename T>
  using Domain = T;
  template <typename M>
  using Wire = M;

  explicit Filler(std::uint64_t seed) : random_(seed) {}
  Random& random() { return random_; }

  // `message` only says by which description.
  template <typename T, typename M>
  void fill(T& value, M& message) {
    if constexpr (std::is_same_v<T, std::string>) {
      value.resize(random_.below(9));
      for (char& c : value) c = static_cast<char>(random_.next());
    } else if constexpr (std::is_same_v<T, DocId>) {
      if (random_.below(4) == 0) return;
      for (auto& byte : value.bytes) byte = static_cast<std::uint8_t>(random_.next());
    } else if constexpr (std::is_same_v<T, Hash128>) {
      value = {.low = random_.next(), .high = random_.below(2) * random_.next()};
    } else if constexpr (kIsOptional<T>) {
      if (random_.below(2) == 0) return;
      if constexpr (requires { message.value(); })
        field(value.emplace(), message, KIN_FIELD(value));
      else
        fill(value.emplace(), message);
    } else if constexpr (kIsPair<T>) {
      field(value.first, message, KIN_FIELD(key));
      field(value.second, message, KIN_FIELD(value));
    } else if constexpr (kIsArray<T>) {
      for (auto& item : value) fill(item, message);
    } else if constexpr (std::ranges::range<T>) {
      fill_items(value, message);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      fill_number(value);
    } else {
      fields(*this, value, message);
    }
  }

  template <typename T, typename M, typename F>
  void field(T& value, M& message, const F& how) {
    if constexpr (F::template kIsMutable<M>)
      fill(value, *how.mutable_(message));
    else
      fill(value, message);
  }

  template <typename V, typename M, typename... F>
  void choice(V& value, M& message, const F&... how) {
    choose(value, random_.below(sizeof...(F)), message, how...);
  }
  template <typename V, typename M, typename... F>
  void choose(V& value, std::size_t place, M& message, const F&... how) {
    [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      ((place == kPlaces ? field(value.template emplace<kPlaces>(), message, how) : void()), ...);
    }(std::index_sequence_for<F...>{});
  }

 private:
  template <typename T, typename M>
  void fill_items(T& values, M& message) {
    if constexpr (!Repeated<M>) {
      field(values, message, KIN_FIELD(items));
    } else {
      for (std::uint64_t left = random_.below(4); left > 0; --left) {
        typename PlainRow<typename T::value_type>::Type value{};
        if constexpr (kOfMessages<M>) {
          ElementOf<M> element;
          fill(value, element);
        } else {
          fill(value, message);
        }
        values.insert(values.end(), std::move(value));
      }
    }
  }

  template <typename T>
  void fill_number(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = random_.below(2) == 1;
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(random_.next());
    } else if constexpr (std::is_same_v<T, float>) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(random_.next()));
    } else if constexpr (Listed<T>) {
      value = static_cast<T>(random_.below(static_cast<std::uint64_t>(*kLast<T>) + 1));
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> plain{};
      fill_number(plain);
      value = static_cast<T>(plain);
    } else {
      using Limits = std::numeric_limits<T>;
      const std::uint64_t kind = random_.below(4);
      value = kind == 0   ? T{}
              : kind == 1 ? Limits::max()
              : kind == 2 ? Limits::min()
                          : static_cast<T>(random_.next());
    }
  }

  Random random_;
};

// Writes values as text. One thread only.
class Printer {
 public:
  template <typename T>
  using Domain = const T;
  template <typename M>
  using Wire = M;

  std::string text;

  template <typename T, typename M>
  void print(const T& value, M& message) {
    if constexpr (std::is_same_v<T, std::string>) {
      text += std::to_string(value.size()) + ":" + value + " ";
    } else if constexpr (std::is_same_v<T, DocId>) {
      text += to_string(value) + " ";
    } else if constexpr (std::is_same_v<T, Hash128>) {
      text += std::to_string(value.low) + "/" + std::to_string(value.high) + " ";
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
      // By bits: numbers that are none are not equal to themselves.
      for (const auto byte : std::bit_cast<std::array<unsigned char, sizeof(T)>>(value))
        text += std::to_string(byte) + " ";
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      text += std::to_string(static_cast<Wide>(value)) + " ";
    } else if constexpr (kIsOptional<T>) {
      text += value ? "some " : "none ";
      if (!value) return;
      if constexpr (requires { message.value(); })
        field(*value, message, KIN_FIELD(value));
      else
        print(*value, message);
    } else if constexpr (kIsPair<T>) {
      field(value.first, message, KIN_FIELD(key));
      field(value.second, message, KIN_FIELD(value));
    } else if constexpr (std::ranges::range<T>) {
      print_items(value, message);
    } else {
      fields(*this, value, message);
    }
  }

  template <typename T, typename M, typename F>
  void field(const T& value, M& message, const F& how) {
    text += how.name;
    text += '=';
    if constexpr (F::template kIsMutable<M>)
      print(value, *how.mutable_(message));
    else
      print(value, message);
  }

  template <typename V, typename M, typename... F>
  void choice(const V& value, M& message, const F&... how) {
    [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      ((value.index() == kPlaces ? field(std::get<kPlaces>(value), message, how) : void()), ...);
    }(std::index_sequence_for<F...>{});
  }

 private:
  template <typename T, typename M>
  void print_items(const T& values, M& message) {
    if constexpr (!Repeated<M>) {
      field(values, message, KIN_FIELD(items));
    } else {
      std::set<std::string> rows;  // maps have no order
      std::string outer = std::exchange(text, "");
      for (const auto& value : values) {
        if constexpr (kOfMessages<M>) {
          ElementOf<M> element;
          print(value, element);
        } else {
          print(value, message);
        }
        if constexpr (kIsPair<std::decay_t<decltype(value)>>) rows.insert(std::exchange(text, ""));
      }
      for (const std::string& row : rows) text += row;
      text = outer + "[ " + text + "] ";
    }
  }
};

}  // namespace kin::rpc
