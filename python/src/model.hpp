#pragma once

/// Models and worlds as Python holds them: shared, constant, with memory for whoever calls.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "python/src/support.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/multibody/data.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere::python {

/// Objects that are lent to one caller at a time and used again: memory of steps and of dynamics. Any thread may ask.
template <class T>
class Pool {
 public:
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      if (pool_.free_.size() < kMostFree) pool_.free_.push_back(std::move(object_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
  };

  template <class Make>
  [[nodiscard]] Lease lend(const Make& make) {
    std::unique_ptr<T> object;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        object = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (object == nullptr) object = make();
    return {*this, std::move(object)};
  }

 private:
  static constexpr std::size_t kMostFree = 64;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

struct SharedModel {
  std::shared_ptr<const Model> model;
  std::shared_ptr<Pool<Data>> memory = std::make_shared<Pool<Data>>();

  explicit SharedModel(Model made) : model(std::make_shared<const Model>(std::move(made))) {}
  explicit SharedModel(std::shared_ptr<const Model> shared) : model(std::move(shared)) {}

  [[nodiscard]] Pool<Data>::Lease data() const {
    return memory->lend([this] { return std::make_unique<Data>(*model); });
  }
};

[[nodiscard]] int read_body(const Model& model, const Place& place);

/// All that makes a model or an actuator, as a tuple for pickle.
[[nodiscard]] nb::tuple model_state(const Model& model);
[[nodiscard]] Model model_from_state(const nb::tuple& state);

}  // namespace tangere::python
