#pragma once

#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace tutti {

/// The value of a result that has one, for TRY: moved out of a temporary, copied from a result that stays.
template <class T, class E>
T value_of(tl::expected<T, E>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

template <class T, class E>
T value_of(const tl::expected<T, E>& result) {
  if constexpr (!std::is_void_v<T>) return *result;
}

}  // namespace tutti

/// The value of a Result; where it holds an error, the enclosing function returns that error:
///
///   const auto text = TRY(read_file(path));
///   TRY(check(options));
///
/// A statement of its own or the whole right side of an initialisation or assignment; never within a larger expression,
/// whose temporaries g++ may leave behind at the return. An expression that names a Result copies its value: pass
/// `std::move(result)` of one that cannot be copied. It is a macro because a function cannot return from its caller,
/// and a statement expression (an extension of g++ and clang) because it has a value.
#define TRY(...) TUTTI_TRY_NUMBERED(__COUNTER__, __VA_ARGS__)

// Each TRY has a name of its own: one may stand in a lambda within another.
#define TUTTI_TRY_NUMBERED(number, ...) TUTTI_TRY_NUMBERED_AS(number, __VA_ARGS__)
#define TUTTI_TRY_NUMBERED_AS(number, ...) TUTTI_TRY_AS(tried_##number, __VA_ARGS__)
#define TUTTI_TRY_AS(tried, ...)                                                       \
  ({                                                                                   \
    auto&& tried = (__VA_ARGS__);                                                      \
    if (!tried) return ::tl::unexpected(std::forward<decltype(tried)>(tried).error()); \
    ::tutti::value_of(std::forward<decltype(tried)>(tried));                           \
  })
