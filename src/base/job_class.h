#pragma once

namespace tutti {

/// Who waits for a job, the most urgent first. The store keeps the numbers: none may change.
enum class JobClass { interactive, normal, batch };

}  // namespace tutti
