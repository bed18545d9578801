#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace tutti::python {

/// Mono samples as the package hands them in.
using Samples = nanobind::ndarray<const float, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

inline std::span<const float> span_of(const Samples& samples) {
  return {samples.data(), samples.size()};
}

/// A NumPy array that owns the values; nothing is copied. Whatever speaks DLPack takes it as it is.
template <class Value>
auto numpy_array(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
  auto* const owned = new std::vector<Value>(std::move(values));
  const nanobind::capsule owner(owned, [](void* all) noexcept { delete static_cast<std::vector<Value>*>(all); });
  return nanobind::ndarray<nanobind::numpy, Value>(owned->data(), shape, owner);
}

}  // namespace tutti::python
