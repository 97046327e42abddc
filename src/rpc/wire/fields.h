// Turns domain types into messages and back. Each type is described once, by the names of its
// fields; Writer and Reader follow the same description, so they cannot disagree.
//
//   KIN_MESSAGE(index::Validity, Validity, from, until)  // at global scope
//   Writer writer;
//   writer.put(validity, message);
//   Reader reader;
//   reader.take(message, validity);
//   KIN_RETURN_IF_ERROR(reader.status());
//
// The names are those of the message, in the order of the domain type's members. A member that is
// added to the domain type and not to its description is an error of compilation. Containers
// without a description of their own are fields `items`, optional elements fields `value`, rows of
// maps fields `key` and `value`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/doc_id.h"
#include "base/hash.h"
#include "base/result.h"

namespace kin::rpc {

// A field of a message: how it is read, set, made and looked for, as far as its kind allows.
template <typename Get, typename Set, typename Mutable, typename Has>
struct Field {
  const char* name;
  Get get;
  Set set;           // numbers and enumerators
  Mutable mutable_;  // texts, messages and lists
  Has has;           // optional fields, and messages

  template <typename Message>
  static constexpr bool kIsMutable = std::is_invocable_v<Mutable, Message&>;
};
template <typename... Parts>
Field(const char*, Parts...) -> Field<Parts...>;

#define KIN_FIELD(field_name)                                                                     \
  ::kin::rpc::Field {                                                                             \
    #field_name, [](const auto& m) -> decltype(auto) { return m.field_name(); },                  \
        [](auto& m, auto v) -> decltype(m.set_##field_name(v)) { return m.set_##field_name(v); }, \
        [](auto& m) -> decltype(m.mutable_##field_name()) { return m.mutable_##field_name(); },   \
        [](const auto& m) -> decltype(m.has_##field_name()) { return m.has_##field_name(); }      \
  }

// The last enumerator of an enumeration that has one of the same numbers in the messages; others
// are ids and travel as numbers.
template <typename Enum>
inline constexpr std::optional<Enum> kLast = std::nullopt;
template <typename T>
concept Listed = std::is_enum_v<T> && kLast<T>.has_value();

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsPair = false;
template <typename A, typename B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;
// A row of a map, which can be changed.
template <typename T>
struct PlainRow {
  using Type = T;
};
template <typename Key, typename Value>
struct PlainRow<std::pair<const Key, Value>> {
  using Type = std::pair<Key, Value>;
};
template <typename List>
concept Repeated = requires(List& list) { list.Add(); };
template <typename List>
using ElementOf = std::remove_pointer_t<decltype(std::declval<List&>().Add())>;
// Or of texts; otherwise of numbers.
template <typename List>
inline constexpr bool kOfMessages = std::is_class_v<ElementOf<List>>;

// An id or a hash of zeros takes no bytes.
inline std::string to_bytes(const std::string& text) {
  return text;
}
inline std::string to_bytes(const DocId& id) {
  return id == DocId{} ? std::string() : std::string(id.view());
}
inline std::string to_bytes(const Hash128& hash) {
  std::string bytes;
  if (hash == Hash128{}) return bytes;
  append_le(bytes, hash.low);
  append_le(bytes, hash.high);
  return bytes;
}
// False if the bytes are not one.
inline bool from_bytes(const std::string& bytes, std::string& text) {
  text = bytes;
  return true;
}
inline bool from_bytes(const std::string& bytes, DocId& id) {
  id = {};
  if (bytes.size() == id.bytes.size()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return bytes.size() == id.bytes.size() || bytes.empty();
}
inline bool from_bytes(const std::string& bytes, Hash128& hash) {
  hash = {};
  if (bytes.size() == 16)
    hash = {.low = load_le<std::uint64_t>(bytes.data()),
            .high = load_le<std::uint64_t>(bytes.data() + 8)};
  return bytes.size() == 16 || bytes.empty();
}

// Fills messages. One thread only.
class Writer {
 public:
  template <typename T>
  using Domain = const T;
  template <typename M>
  using Wire = M;

  template <typename T, typename M>
  void put(const T& value, M& out) {
    if constexpr (Repeated<M>) {
      put_items(value, out);
    } else if constexpr (std::is_same_v<M, std::string>) {
      out = to_bytes(value);
    } else if constexpr (kIsOptional<T>) {
      field(value, out, KIN_FIELD(value));
    } else if constexpr (kIsPair<T>) {
      field(value.first, out, KIN_FIELD(key));
      field(value.second, out, KIN_FIELD(value));
    } else if constexpr (std::ranges::range<T>) {
      field(value, out, KIN_FIELD(items));
    } else {
      fields(*this, value, out);
    }
  }

  template <typename T, typename M, typename F>
  void field(const T& value, M& message, const F& how) {
    if constexpr (kIsOptional<T>) {
      if (value) field(*value, message, how);
    } else if constexpr (F::template kIsMutable<M>) {
      put(value, *how.mutable_(message));
    } else {
      how.set(message, static_cast<std::decay_t<decltype(how.get(message))>>(value));
    }
  }

  // `how` has a field for every alternative, in their order.
  template <typename V, typename M, typename... F>
  void choice(const V& value, M& message, const F&... how) {
    static_assert(sizeof...(F) == std::variant_size_v<V>);
    [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      (put_if<kPlaces>(value, message, how), ...);
    }(std::index_sequence_for<F...>{});
  }

 private:
  template <std::size_t kPlace, typename V, typename M, typename F>
  void put_if(const V& value, M& message, const F& how) {
    if (value.index() == kPlace) field(std::get<kPlace>(value), message, how);
  }

  template <typename T, typename List>
  void put_items(const T& values, List& out) {
    if constexpr (kOfMessages<List>) {
      out.Reserve(static_cast<int>(values.size()));
      for (const auto& value : values) put(value, *out.Add());
    } else {
      out.Reserve(static_cast<int>(values.size()));
      for (const auto& value : values) out.Add(static_cast<ElementOf<List>>(value));
    }
  }
};

// Reads messages, which may come from anybody. One thread only.
class Reader {
 public:
  template <typename T>
  using Domain = T;
  template <typename M>
  using Wire = const M;

  // kInvalidArgument names the first field that does not fit its type.
  Status status() const { return wrong_ == nullptr ? Status(Done{}) : failure(); }

  template <typename M, typename T>
  void take(const M& message, T& out) {
    if constexpr (Repeated<M>) {
      take_items(message, out);
    } else if constexpr (std::is_same_v<M, std::string>) {
      if (!from_bytes(message, out)) refuse();
    } else if constexpr (std::is_arithmetic_v<M> || std::is_enum_v<M>) {
      take_number(message, out);
    } else if constexpr (kIsOptional<T>) {
      field(out, message, KIN_FIELD(value));
    } else if constexpr (kIsPair<T>) {
      field(out.first, message, KIN_FIELD(key));
      field(out.second, message, KIN_FIELD(value));
    } else if constexpr (std::ranges::range<T>) {
      field(out, message, KIN_FIELD(items));
    } else {
      fields(*this, out, message);
    }
  }

  template <typename T, typename M, typename F>
  void field(T& value, const M& message, const F& how) {
    const char* const outer = std::exchange(name_, how.name);
    if constexpr (kIsOptional<T>) {
      value.reset();
      if (how.has(message)) take(how.get(message), value.emplace());
    } else {
      take(how.get(message), value);
    }
    name_ = outer;
  }

  template <typename V, typename M, typename... F>
  void choice(V& value, const M& message, const F&... how) {
    static_assert(sizeof...(F) == std::variant_size_v<V>);
    const bool known = [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      return (take_if<kPlaces>(value, message, how) || ...);
    }(std::index_sequence_for<F...>{});
    if (!known) refuse();  // nothing, or an alternative of a newer program
  }

 private:
  template <std::size_t kPlace, typename V, typename M, typename F>
  bool take_if(V& value, const M& message, const F& how) {
    if (!how.has(message)) return false;
    field(value.template emplace<kPlace>(), message, how);
    return true;
  }

  template <typename Number, typename T>
  void take_number(Number number, T& out) {
    if constexpr (std::is_same_v<T, Number>) {
      out = number;
    } else if constexpr (Listed<T>) {
      const auto wide = static_cast<std::int64_t>(number);
      if (wide < 0 || wide > static_cast<std::int64_t>(*kLast<T>)) return refuse();
      out = static_cast<T>(wide);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> plain{};
      take_number(number, plain);
      out = static_cast<T>(plain);
    } else {
      if (!std::in_range<T>(number)) return refuse();
      out = static_cast<T>(number);
    }
  }

  template <typename List, typename T>
  void take_items(const List& list, T& out) {
    if constexpr (kIsArray<T>) {
      if (static_cast<std::size_t>(list.size()) != out.size()) return refuse();
      for (int i = 0; i < list.size(); ++i) take(list.Get(i), out[static_cast<std::size_t>(i)]);
    } else {
      out.clear();
      if constexpr (requires { out.reserve(1); })
        out.reserve(static_cast<std::size_t>(list.size()));
      for (const auto& item : list) {
        typename PlainRow<typename T::value_type>::Type value{};
        take(item, value);
        out.insert(out.end(), std::move(value));
      }
    }
  }

  void refuse() {
    if (wrong_ == nullptr) wrong_ = name_;
  }
  Error failure() const;

  const char* name_ = "message";
  const char* wrong_ = nullptr;
};

}  // namespace kin::rpc

// ---- Descriptions

#define KIN_PARENTHESES ()
#define KIN_EXPAND1(...) __VA_ARGS__
#define KIN_EXPAND2(...) KIN_EXPAND1(KIN_EXPAND1(KIN_EXPAND1(KIN_EXPAND1(__VA_ARGS__))))
#define KIN_EXPAND3(...) KIN_EXPAND2(KIN_EXPAND2(KIN_EXPAND2(KIN_EXPAND2(__VA_ARGS__))))
#define KIN_EXPAND(...) KIN_EXPAND3(KIN_EXPAND3(__VA_ARGS__))
#define KIN_EACH_NEXT(macro, one, ...) \
  macro(one) __VA_OPT__(, KIN_EACH_AGAIN KIN_PARENTHESES(macro, __VA_ARGS__))
#define KIN_EACH_AGAIN() KIN_EACH_NEXT
// macro(a), macro(b), … for up to 40 names.
#define KIN_EACH(macro, ...) KIN_EXPAND(KIN_EACH_NEXT(macro, __VA_ARGS__))

// What a description expands to: fields() for the two types, found by argument-dependent lookup.
#define KIN_DESCRIPTION(DomainType, Message, ...)                                           \
  namespace kindred::v1 {                                                                   \
  class Message;                                                                            \
  }                                                                                         \
  namespace kin::rpc {                                                                      \
  template <typename Io>                                                                    \
  void fields([[maybe_unused]] Io& io,                                                      \
              [[maybe_unused]] typename Io::template Domain<DomainType>& domain,            \
              [[maybe_unused]] typename Io::template Wire<kindred::v1::Message>& message) { \
    __VA_ARGS__;                                                                            \
  }                                                                                         \
  }

#define KIN_MEMBER(name) io.field(name, message, KIN_FIELD(name))
#define KIN_MESSAGE(DomainType, Message, ...)                        \
  KIN_DESCRIPTION(DomainType, Message, auto& [__VA_ARGS__] = domain; \
                  KIN_EACH(KIN_MEMBER, __VA_ARGS__))
// A type without members.
#define KIN_EMPTY_MESSAGE(DomainType, Message) KIN_DESCRIPTION(DomainType, Message, )
// A variant: the names of a oneof's fields in the order of the alternatives.
#define KIN_ONE_OF(DomainType, Message, ...) \
  KIN_DESCRIPTION(DomainType, Message, io.choice(domain, message, KIN_EACH(KIN_FIELD, __VA_ARGS__)))
