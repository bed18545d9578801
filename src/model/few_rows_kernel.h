#pragma once

#include "model/few_rows_job.h"
#include "model/lanes.h"

namespace tutti {
namespace {

/// One output of `rows` rows. Each row's sum is taken in the same order whatever `rows` is.
template <int rows, class T>
inline void dot(const float* x, std::int64_t in, const T* weight, float* y, std::int64_t y_stride) {
  Lanes sums[rows] = {};
  for (std::int64_t k = 0; k < in; k += kLanes) {
    Lanes w;
    load(w, weight + k);
    for (int row = 0; row < rows; ++row) {
      Lanes a;
      load(a, x + row * in + k);
      sums[row] += a * w;
    }
  }
  for (int row = 0; row < rows; ++row) y[row * y_stride] = sum(sums[row]);
}

template <class T>
void multiply_few_rows(const FewRows<T>& job, std::int64_t first, std::int64_t last) {
  for (std::int64_t out = first; out < last; ++out) {
    const T* weight = job.weight + out * job.in;
    std::int64_t row = 0;
    const auto run = [&]<int rows>() {
      for (; job.rows - row >= rows; row += rows) {
        dot<rows>(job.x + row * job.in, job.in, weight, job.y + row * job.out + out, job.out);
      }
    };
    run.template operator()<8>();
    run.template operator()<4>();
    run.template operator()<2>();
    run.template operator()<1>();
  }
}

}  // namespace
}  // namespace tutti
