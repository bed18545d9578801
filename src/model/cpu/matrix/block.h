#pragma once

#include <vector>

#include "model/cpu/matrix/packed_matrix.h"
#include "model/cpu/matrix/product.h"

namespace tutti {

/// A thread at work with one table of kernels.
class KernelScope {
 public:
  explicit KernelScope(const Kernels& kernels) : kernels_(kernels) { kernels_.enter(); }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  ~KernelScope() { kernels_.leave(); }

 private:
  const Kernels& kernels_;
};

/// Rows made ready for products with weights of one precision and width.
class PreparedRows {
 public:
  /// For products with `weight`.
  PreparedRows(const PackedMatrix& weight, std::int64_t most_rows);
  PreparedRows(WeightPrecision precision, std::int64_t in, std::int64_t most_rows, std::int64_t parts = 1);

  /// x becomes rows [first, first + x.count). Threads may prepare different rows at once.
  void prepare(const Kernels& kernels, const Rows& x, const Before& before, std::int64_t first = 0);

  const std::byte* row(std::int64_t index) const { return bytes_.data() + index * parts_ * stride_; }
  std::int64_t parts() const { return parts_; }  // stored rows per row
  std::int64_t stride() const { return stride_; }
  const RowScale* scales(std::int64_t row) const { return scales_.empty() ? nullptr : scales_.data() + row * parts_; }

 private:
  std::int64_t in_;
  std::int64_t parts_;
  std::int64_t groups_;
  std::int64_t stride_;  // bytes
  AlignedBytes bytes_;
  std::vector<RowScale> scales_{};
};

/// The first `count` of prepared rows.
struct FirstRows {
  const PreparedRows& of;
  std::int64_t count = 0;
};

/// Panels [first, last) of a matrix.
struct Panels {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The outputs of some panels for some rows; y and the addend as for the whole product.
void multiply_panels(const Kernels& kernels, const FirstRows& rows, const PackedMatrix& weight, const Panels& panels,
                     const After& after, const Output& y);

}  // namespace tutti
