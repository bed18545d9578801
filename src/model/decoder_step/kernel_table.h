#pragma once

#include <stdexcept>

#include "model/decoder_step/align.h"
#include "model/decoder_step/attend.h"
#include "model/decoder_step/kernels.h"
#include "model/decoder_step/pack_bytes.h"
#include "model/decoder_step/rows.h"
#include "model/decoder_step/select.h"

namespace tutti {

/// Calls fn with a null pointer to the type of that name; of the floating types.
template <class Fn>
void with_floats(Number number, Fn fn) {
  switch (number) {
    case Number::float32: return fn(static_cast<float*>(nullptr));
    case Number::float16: return fn(static_cast<Half*>(nullptr));
    case Number::bfloat16: return fn(static_cast<Bfloat*>(nullptr));
    default: throw std::invalid_argument("a step's activations are floating numbers");
  }
}

template <class Fn>
void with_cache(const AttendJob& job, Fn fn) {
  with_floats(job.activation, [&]<class T>(T* activation) {
    if (job.cache == Number::int8) return fn(activation, static_cast<std::int8_t*>(nullptr));
    if (job.cache != job.activation) throw std::invalid_argument("keys are int8 or of the activations' type");
    fn(activation, activation);
  });
}

/// The table of kernels over a way to run them: Launch::run<Body>(job, units, shared floats, stream).
template <class Launch>
struct KernelTable {
  static void attend(const AttendJob& job, Stream stream) {
    const auto units = std::int64_t{job.rows} * job.heads;
    with_cache(job, [&]<class T, class K>(T*, K*) {
      const auto run = [&]<class Body>(Body) {
        Launch::template run<Body>(job, units * job.splits, Body::kSharedFloats, stream);
      };
      job.shared ? run(AttendSharedBody<T, K>{}) : run(AttendBody<T, K>{});
      if (job.splits > 1) Launch::template run<MergeBody<T, K>>(job, units, 0, stream);
    });
  }
  static void append(const AppendJob& job, Stream stream) {
    with_floats(job.activation, [&]<class T>(T*) { Launch::template run<AppendBody<T>>(job, job.rows, 0, stream); });
  }
  static void embed(const EmbedJob& job, Stream stream) {
    with_floats(job.activation, [&]<class T>(T*) { Launch::template run<EmbedBody<T>>(job, job.rows, 0, stream); });
  }
  static void norm(const NormJob& job, Stream stream) {
    with_floats(job.activation, [&]<class T>(T*) { Launch::template run<NormBody<T>>(job, job.rows, job.n, stream); });
  }
  static void finish(const FinishJob& job, Stream stream) {
    with_floats(job.activation,
                [&]<class T>(T*) { Launch::template run<FinishBody<T>>(job, job.rows, job.n, stream); });
  }
  static void pack(const PackJob& job, Stream stream) {
    const auto units = std::int64_t{2} * job.heads * pack_parts(job.positions);
    with_floats(job.activation, [&]<class T>(T*) {
      Launch::template run<PackSumBody<T>>(job, units, PackSumBody<T>::kSharedFloats, stream);
      Launch::template run<PackBody<T>>(job, units, PackBody<T>::kSharedFloats, stream);
    });
  }

  static void select(const SelectJob& job, Stream stream) {
    Launch::template run<SelectBody>(job, job.rows, 0, stream);
  }

  static void align(const AlignJob& job, Stream stream) {
    if (job.symbols > kMostAlignedSymbols) throw std::invalid_argument("texts are too long for the alignment's kernel");
    const std::int64_t units = (job.rows + AlignBody::kRows - 1) / AlignBody::kRows;
    Launch::template run<AlignBody>(job, units, AlignBody::shared_floats(job.symbols), stream);
  }

  static constexpr StepKernels kTable{attend, append, embed, norm, finish, pack, select, align};
};

}  // namespace tutti
