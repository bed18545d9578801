#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

// Sixteen numbers on processors whose registers hold eight: g++ keeps a vector type wider than a register in memory,
// and writes and reads every intermediate sum.
namespace tutti {
namespace {

template <class Number, int bytes>
struct VectorRegister {
  typedef Number type __attribute__((vector_size(bytes)));  // "using" would lose the attribute
};

template <class Number>
struct TwoRegisters {
  using Register = typename VectorRegister<Number, 32>::type;
  using Mask = TwoRegisters<std::int32_t>;
  Register half[2];

  TwoRegisters operator-() const { return {{-half[0], -half[1]}}; }
  /// By a register that holds the same number eight times.
  TwoRegisters operator*(const Register& all) const { return {{half[0] * all, half[1] * all}}; }
  template <class Count>
  TwoRegisters operator<<(Count bits) const {
    return {{half[0] << static_cast<Number>(bits), half[1] << static_cast<Number>(bits)}};
  }
  template <class Count>
  TwoRegisters operator>>(Count bits) const {
    return {{half[0] >> static_cast<Number>(bits), half[1] >> static_cast<Number>(bits)}};
  }

// With sixteen others, or with a single number, which is repeated sixteen times.
// NOLINTBEGIN(bugprone-macro-parentheses): a type and an operator take none.
#define TUTTI_EACH(Result, op)                                              \
  friend Result operator op(const TwoRegisters& a, const TwoRegisters& b) { \
    return {{a.half[0] op b.half[0], a.half[1] op b.half[1]}};              \
  }                                                                         \
  friend Result operator op(const TwoRegisters& a, Number b) {              \
    return {{a.half[0] op b, a.half[1] op b}};                              \
  }
#define TUTTI_ARITHMETIC(op)                                         \
  TUTTI_EACH(TwoRegisters, op)                                       \
  friend TwoRegisters operator op(Number a, const TwoRegisters& b) { \
    return {{a op b.half[0], a op b.half[1]}};                       \
  }                                                                  \
  template <class Other>                                             \
  TwoRegisters& operator op##=(const Other& other) {                 \
    return *this = *this op other;                                   \
  }
  // NOLINTEND(bugprone-macro-parentheses)
  TUTTI_ARITHMETIC(+)
  TUTTI_ARITHMETIC(-)
  TUTTI_ARITHMETIC(*)
  TUTTI_ARITHMETIC(/)
  TUTTI_ARITHMETIC(&)
  TUTTI_ARITHMETIC(|)
  TUTTI_EACH(Mask, <)
  TUTTI_EACH(Mask, >)
  TUTTI_EACH(Mask, <=)
  TUTTI_EACH(Mask, >=)
#undef TUTTI_ARITHMETIC
#undef TUTTI_EACH
};

using Lanes = TwoRegisters<float>;
using IntegerLanes = TwoRegisters<std::int32_t>;
using WordLanes = TwoRegisters<std::uint32_t>;
using FloatRegister = Lanes::Register;
using WordRegister = WordLanes::Register;

template <class Vector>
inline Vector read_lanes(const void* from) {
  Vector lanes;
  std::memcpy(&lanes.half[0], from, sizeof lanes.half[0]);
  std::memcpy(&lanes.half[1], static_cast<const char*>(from) + sizeof lanes.half[0], sizeof lanes.half[1]);
  return lanes;
}

/// Writes narrower numbers, which one register holds.
template <class Vector>
inline void write_lanes(void* to, const Vector& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <class Number>
inline void write_lanes(void* to, const TwoRegisters<Number>& lanes) {
  std::memcpy(to, &lanes.half[0], sizeof lanes.half[0]);
  std::memcpy(static_cast<char*>(to) + sizeof lanes.half[0], &lanes.half[1], sizeof lanes.half[1]);
}

/// `yes` where the mask is set, else `no`.
template <class Number>
inline TwoRegisters<Number> where(const IntegerLanes& mask, const TwoRegisters<Number>& yes,
                                  const TwoRegisters<Number>& no) {
  return {{mask.half[0] ? yes.half[0] : no.half[0], mask.half[1] ? yes.half[1] : no.half[1]}};
}

/// Lane by lane; b where one of them is not a number.
inline Lanes larger(const Lanes& a, const Lanes& b) {
  return {{_mm256_max_ps(a.half[0], b.half[0]), _mm256_max_ps(a.half[1], b.half[1])}};
}

inline Lanes smaller(const Lanes& a, const Lanes& b) {
  return {{_mm256_min_ps(a.half[0], b.half[0]), _mm256_min_ps(a.half[1], b.half[1])}};
}

inline IntegerLanes larger(const IntegerLanes& a, const IntegerLanes& b) {
  using Register = IntegerLanes::Register;
  const auto half = [&](int i) {
    return reinterpret_cast<Register>(
        _mm256_max_epi32(reinterpret_cast<__m256i>(a.half[i]), reinterpret_cast<__m256i>(b.half[i])));
  };
  return {{half(0), half(1)}};
}

/// The same bits as numbers of another kind.
template <class To, class Number>
inline To bits_as(const TwoRegisters<Number>& from) {
  using Register = typename To::Register;
  return {{reinterpret_cast<Register>(from.half[0]), reinterpret_cast<Register>(from.half[1])}};
}

/// The numbers as another type's, sixteen of which fill `To`: a vector of half the size or a quarter.
template <class To, class Number>
inline To narrowed(const TwoRegisters<Number>& from) {
  using Element = std::remove_reference_t<decltype(To{}[0])>;
  using Half = typename VectorRegister<Element, sizeof(To) / 2>::type;
  const Half halves[2] = {__builtin_convertvector(from.half[0], Half), __builtin_convertvector(from.half[1], Half)};
  To to;
  std::memcpy(&to, halves, sizeof to);
  return to;
}

/// The other way: sixteen unsigned numbers of half a word.
template <class Halves>
inline WordLanes widened(const Halves& from) {
  using Half = VectorRegister<std::uint16_t, 16>::type;
  using Register = WordLanes::Register;
  Half halves[2];
  std::memcpy(halves, &from, sizeof halves);
  return {{__builtin_convertvector(halves[0], Register), __builtin_convertvector(halves[1], Register)}};
}

inline Lanes as_floats(const IntegerLanes& whole) {
  using Register = Lanes::Register;
  return {{__builtin_convertvector(whole.half[0], Register), __builtin_convertvector(whole.half[1], Register)}};
}

}  // namespace
}  // namespace tutti
