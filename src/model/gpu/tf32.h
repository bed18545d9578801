#pragma once

namespace tutti {

/// Whether GPUs round the inputs of float32 products and convolutions to TF32's ten bits. The setting is the process's,
/// for all threads; CPUs do not know it. torch as it starts rounds those of convolutions alone.
void set_tf32(bool rounds);

/// The setting for as long as this object exists; as before at the end.
class Tf32Scope {
 public:
  explicit Tf32Scope(bool rounds);
  Tf32Scope(const Tf32Scope&) = delete;
  Tf32Scope& operator=(const Tf32Scope&) = delete;
  ~Tf32Scope();

 private:
  bool products_;
  bool convolutions_;
};

}  // namespace tutti
