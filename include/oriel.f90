! SPDX-License-Identifier: BSD-2-Clause
!
! oriel.f90 - the interface of oriel.h for Fortran
!
! Compile it with your program: .mod files belong to one compiler. Names, arguments and their order
! are those of oriel.h, and the pages of section 3 hold. What differs:
!
! - Jobs, groups, windows and registered memory are values of type(c_ptr).
! - Buffers are passed as c_loc(buffer). Buffer and window memory need the attribute target, and
!   asynchronous where they are accessed in one scope before and after a call that completes an
!   operation, so that the compiler does not keep them in registers.
! - hints and options are c_null_ptr, or c_loc of an array of oriel_hint or of an oriel_options.
! - Displacements and sizes are integer(c_size_t). They count from 0.
! - oriel_error_message() is the text of oriel_last_error() as a Fortran string.
!
module oriel
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! Errors; every function of type integer returns one of these, or a value that is not negative
  integer(c_int), parameter :: ORIEL_OK = 0, ORIEL_ERR_ARG = -2, ORIEL_ERR_HANDLE = -3, &
      ORIEL_ERR_RANK = -4, ORIEL_ERR_RANGE = -5, ORIEL_ERR_ACCESS = -6, ORIEL_ERR_SYNC = -7, &
      ORIEL_ERR_PEER = -8, ORIEL_ERR_TIMEOUT = -9, ORIEL_ERR_MEMORY = -10, &
      ORIEL_ERR_LIMIT = -11, ORIEL_ERR_DEVICE = -12, ORIEL_ERR_BOOTSTRAP = -13, &
      ORIEL_ERR_OP = -14, ORIEL_ERR_ATTACH = -15, ORIEL_ERR_KIND = -16, ORIEL_ERR_SHARED = -17, &
      ORIEL_ERR_ROUTE = -18

  ! Kinds of windows
  integer(c_int), parameter :: ORIEL_WIN_CREATED = 1, ORIEL_WIN_ALLOCATED = 2, &
      ORIEL_WIN_SHARED = 3, ORIEL_WIN_DYNAMIC = 4

  ! Ranks with a meaning of their own
  integer(c_int), parameter :: ORIEL_RANK_NONE = -1, ORIEL_RANK_ALL = -2

  ! Assertions, to be combined with ior
  integer(c_int), parameter :: ORIEL_MODE_NOCHECK = 1, ORIEL_MODE_NOSTORE = 2, &
      ORIEL_MODE_NOPUT = 4, ORIEL_MODE_NOPRECEDE = 8, ORIEL_MODE_NOSUCCEED = 16

  ! Types of elements
  integer(c_int), parameter :: ORIEL_INT8 = 1, ORIEL_INT16 = 2, ORIEL_INT32 = 3, &
      ORIEL_INT64 = 4, ORIEL_UINT8 = 5, ORIEL_UINT16 = 6, ORIEL_UINT32 = 7, ORIEL_UINT64 = 8, &
      ORIEL_BOOL = 9, ORIEL_FLOAT = 10, ORIEL_DOUBLE = 11, ORIEL_LONG_DOUBLE = 12, &
      ORIEL_FLOAT_COMPLEX = 13, ORIEL_DOUBLE_COMPLEX = 14, ORIEL_LONG_DOUBLE_COMPLEX = 15, &
      ORIEL_FLOAT_INT = 16, ORIEL_DOUBLE_INT = 17, ORIEL_LONG_INT = 18, ORIEL_INT_INT = 19, &
      ORIEL_SHORT_INT = 20, ORIEL_LONG_DOUBLE_INT = 21, ORIEL_FLOAT_FLOAT = 22, &
      ORIEL_DOUBLE_DOUBLE = 23, ORIEL_FLOAT128 = 24, ORIEL_FLOAT128_COMPLEX = 25, &
      ORIEL_INT128 = 26

  ! Operations
  integer(c_int), parameter :: ORIEL_SUM = 1, ORIEL_PROD = 2, ORIEL_MIN = 3, &
      ORIEL_MAX = 4, ORIEL_LAND = 5, ORIEL_LOR = 6, ORIEL_LXOR = 7, ORIEL_BAND = 8, &
      ORIEL_BOR = 9, ORIEL_BXOR = 10, ORIEL_MINLOC = 11, ORIEL_MAXLOC = 12, ORIEL_REPLACE = 13, &
      ORIEL_NO_OP = 14

  ! Locks and signals
  integer(c_int), parameter :: ORIEL_LOCK_SHARED = 1, ORIEL_LOCK_EXCLUSIVE = 2, &
      ORIEL_SIGNAL_SET = 1, ORIEL_SIGNAL_ADD = 2

  ! Version
  integer(c_int), parameter :: ORIEL_VERSION_MAJOR = 0, ORIEL_VERSION_MINOR = 1, &
      ORIEL_VERSION_PATCH = 0

  ! What has been issued up to some moment: oriel_win_iflush
  type, bind(c) :: oriel_request
    type(c_ptr) :: win
    integer(c_int64_t) :: window_serial, number, am_number
    integer(c_int) :: target_rank, scope
  end type

  ! Choices at oriel_init. struct_bytes is c_sizeof of the variable; c_null_ptr and 0: the default
  type, bind(c) :: oriel_options
    integer(c_size_t) :: struct_bytes = 0
    type(c_ptr) :: device = c_null_ptr, addr = c_null_ptr
    integer(c_int) :: timeout_ms = 0, watchdog_ms = 0
    integer(c_size_t) :: max_message_bytes = 0
    type(c_ptr) :: bootstrap = c_null_ptr
    type(c_funptr) :: idle = c_null_funptr
    type(c_ptr) :: idle_context = c_null_ptr
    type(c_funptr) :: call_name = c_null_funptr
  end type

  ! How ranks find each other, for a program that passes bytes already
  type, bind(c) :: oriel_bootstrap
    integer(c_size_t) :: struct_bytes = 0
    integer(c_int) :: rank = 0, size = 0, local_size = 0
    type(c_ptr) :: context = c_null_ptr
    type(c_funptr) :: exchange = c_null_funptr, put = c_null_funptr, get = c_null_funptr
    type(c_funptr) :: abort = c_null_funptr
  end type

  ! A hint; a list of them ends with a null key. Strings end with c_null_char
  type, bind(c) :: oriel_hint
    type(c_ptr) :: key = c_null_ptr, value = c_null_ptr
  end type

  ! What oriel_win_query reports. struct_bytes is c_sizeof of the variable
  type, bind(c) :: oriel_win_info
    integer(c_size_t) :: struct_bytes = 0
    type(c_ptr) :: base = c_null_ptr
    integer(c_size_t) :: size_bytes = 0, disp_unit_bytes = 0
    type(c_ptr) :: group = c_null_ptr
    integer(c_int) :: no_locks = 0, same_size = 0, same_disp_unit = 0
    character(kind=c_char) :: accumulate_ordering(64) = c_null_char
    character(kind=c_char) :: accumulate_ops(32) = c_null_char
    integer(c_int) :: kind = 0, unified = 0, alloc_shared_noncontig = 0
    integer(c_size_t) :: accumulate_granularity_bytes = 0
    integer(c_int32_t) :: signal_count = 0
    integer(c_int) :: accumulate_uses_target = 0, free_refused = 0, share = 0
    character(kind=c_char) :: name(64) = c_null_char
    integer(c_int64_t) :: number = 0
  end type

  ! Pieces of vector operations
  type, bind(c) :: oriel_origin_piece
    type(c_ptr) :: addr = c_null_ptr
    integer(c_size_t) :: size_bytes = 0
  end type

  type, bind(c) :: oriel_target_piece
    integer(c_size_t) :: disp = 0, size_bytes = 0
  end type

  ! struct oriel_usage of C; oriel_usage is the function
  type, bind(c) :: oriel_usage_bytes
    integer(c_size_t) :: struct_bytes = 0, ranks = 0, peers = 0, windows = 0, links = 0
    integer(c_size_t) :: base_bytes = 0, peer_bytes = 0, window_bytes = 0, link_bytes = 0
    integer(c_size_t) :: registered_bytes = 0
  end type

  interface
    ! Job
    function oriel_init(options, job) result(rc) bind(c)
      import
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: job
      integer(c_int) :: rc
    end function
    function oriel_finalize(job) result(rc) bind(c)
      import
      type(c_ptr), intent(inout) :: job
      integer(c_int) :: rc
    end function
    function oriel_rank(job) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_int) :: rc
    end function
    function oriel_size(job) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_int) :: rc
    end function
    function oriel_barrier(job) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_int) :: rc
    end function
    function oriel_abort(job, status, reason) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_int), value :: status
      type(c_ptr), value :: reason
      integer(c_int) :: rc
    end function
    function oriel_version() result(pointer) bind(c)
      import
      type(c_ptr) :: pointer
    end function
    function oriel_progress(job) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_int) :: rc
    end function
    function oriel_usage(job, usage) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      type(oriel_usage_bytes), intent(inout) :: usage
      integer(c_int) :: rc
    end function

    ! Groups
    function oriel_group_world(job, group) result(rc) bind(c)
      import
      type(c_ptr), value :: job
      type(c_ptr), intent(out) :: group
      integer(c_int) :: rc
    end function
    function oriel_group_incl(group, count, ranks, newgroup) result(rc) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_int), value :: count
      integer(c_int), intent(in) :: ranks(*)
      type(c_ptr), intent(out) :: newgroup
      integer(c_int) :: rc
    end function
    function oriel_group_tagged(group, tag, newgroup) result(rc) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_int64_t), value :: tag
      type(c_ptr), intent(out) :: newgroup
      integer(c_int) :: rc
    end function
    function oriel_group_shared(group, newgroup) result(rc) bind(c)
      import
      type(c_ptr), value :: group
      type(c_ptr), intent(out) :: newgroup
      integer(c_int) :: rc
    end function
    function oriel_group_free(group) result(rc) bind(c)
      import
      type(c_ptr), intent(inout) :: group
      integer(c_int) :: rc
    end function
    function oriel_group_rank(group) result(rc) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_int) :: rc
    end function
    function oriel_group_size(group) result(rc) bind(c)
      import
      type(c_ptr), value :: group
      integer(c_int) :: rc
    end function
    function oriel_group_translate(from, count, ranks, to, out) result(rc) bind(c)
      import
      type(c_ptr), value :: from
      integer(c_int), value :: count
      integer(c_int), intent(in) :: ranks(*)
      type(c_ptr), value :: to
      integer(c_int), intent(out) :: out(*)
      integer(c_int) :: rc
    end function

    ! Windows and memory
    function oriel_win_create(base, size_bytes, disp_unit_bytes, hints, group, win &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: base
      integer(c_size_t), value :: size_bytes, disp_unit_bytes
      type(c_ptr), value :: hints, group
      type(c_ptr), intent(out) :: win
      integer(c_int) :: rc
    end function
    function oriel_win_allocate(size_bytes, disp_unit_bytes, hints, group, base, win &
        ) result(rc) bind(c)
      import
      integer(c_size_t), value :: size_bytes, disp_unit_bytes
      type(c_ptr), value :: hints, group
      type(c_ptr), intent(out) :: base, win
      integer(c_int) :: rc
    end function
    function oriel_win_allocate_shared(size_bytes, disp_unit_bytes, hints, group, base, win &
        ) result(rc) bind(c)
      import
      integer(c_size_t), value :: size_bytes, disp_unit_bytes
      type(c_ptr), value :: hints, group
      type(c_ptr), intent(out) :: base, win
      integer(c_int) :: rc
    end function
    function oriel_win_create_dynamic(hints, group, win) result(rc) bind(c)
      import
      type(c_ptr), value :: hints, group
      type(c_ptr), intent(out) :: win
      integer(c_int) :: rc
    end function
    function oriel_win_attach(win, base, size_bytes) result(rc) bind(c)
      import
      type(c_ptr), value :: win, base
      integer(c_size_t), value :: size_bytes
      integer(c_int) :: rc
    end function
    function oriel_win_detach(win, base) result(rc) bind(c)
      import
      type(c_ptr), value :: win, base
      integer(c_int) :: rc
    end function
    function oriel_win_shared_query(win, rank, base, size_bytes, disp_unit_bytes &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: rank
      type(c_ptr), intent(out) :: base
      integer(c_size_t), intent(out) :: size_bytes, disp_unit_bytes
      integer(c_int) :: rc
    end function
    function oriel_win_free(win) result(rc) bind(c)
      import
      type(c_ptr), intent(inout) :: win
      integer(c_int) :: rc
    end function
    function oriel_win_query(win, info) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      type(oriel_win_info), intent(inout) :: info
      integer(c_int) :: rc
    end function
    function oriel_win_set_hints(win, hints) result(rc) bind(c)
      import
      type(c_ptr), value :: win, hints
      integer(c_int) :: rc
    end function
    function oriel_win_set_name(win, name) result(rc) bind(c)
      import
      type(c_ptr), value :: win, name
      integer(c_int) :: rc
    end function
    function oriel_win_set_user(win, user) result(rc) bind(c)
      import
      type(c_ptr), value :: win, user
      integer(c_int) :: rc
    end function
    function oriel_win_user(win) result(pointer) bind(c)
      import
      type(c_ptr), value :: win
      type(c_ptr) :: pointer
    end function
    function oriel_mem_register(job, base, size_bytes, mem) result(rc) bind(c)
      import
      type(c_ptr), value :: job, base
      integer(c_size_t), value :: size_bytes
      type(c_ptr), intent(out) :: mem
      integer(c_int) :: rc
    end function
    function oriel_mem_deregister(mem) result(rc) bind(c)
      import
      type(c_ptr), intent(inout) :: mem
      integer(c_int) :: rc
    end function
    function oriel_alloc(job, size_bytes) result(pointer) bind(c)
      import
      type(c_ptr), value :: job
      integer(c_size_t), value :: size_bytes
      type(c_ptr) :: pointer
    end function
    function oriel_free(job, memory) result(rc) bind(c)
      import
      type(c_ptr), value :: job, memory
      integer(c_int) :: rc
    end function

    ! Moving data
    function oriel_put(win, origin, size_bytes, target_rank, target_disp) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin
      integer(c_size_t), value :: size_bytes
      integer(c_int), value :: target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_get(win, origin, size_bytes, target_rank, target_disp) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin
      integer(c_size_t), value :: size_bytes
      integer(c_int), value :: target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_putv(win, origin, origin_count, target_rank, target, target_count &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      type(oriel_origin_piece), intent(in) :: origin(*)
      integer(c_int), value :: origin_count, target_rank
      type(oriel_target_piece), intent(in) :: target(*)
      integer(c_int), value :: target_count
      integer(c_int) :: rc
    end function
    function oriel_getv(win, origin, origin_count, target_rank, target, target_count &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      type(oriel_origin_piece), intent(in) :: origin(*)
      integer(c_int), value :: origin_count, target_rank
      type(oriel_target_piece), intent(in) :: target(*)
      integer(c_int), value :: target_count
      integer(c_int) :: rc
    end function
    function oriel_accumulate(win, origin, count, type, op, target_rank, target_disp &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_get_accumulate(win, origin, result, count, type, op, target_rank, &
        target_disp) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin, result
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_fetch_and_op(win, origin, result, type, op, target_rank, target_disp &
        ) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin, result
      integer(c_int), value :: type, op, target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_compare_and_swap(win, origin, compare, result, type, target_rank, &
        target_disp) result(rc) bind(c)
      import
      type(c_ptr), value :: win, origin, compare, result
      integer(c_int), value :: type, target_rank
      integer(c_size_t), value :: target_disp
      integer(c_int) :: rc
    end function
    function oriel_accumulatev(win, origin, origin_count, type, op, target_rank, target, &
        target_count) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      type(oriel_origin_piece), intent(in) :: origin(*)
      integer(c_int), value :: origin_count, type, op, target_rank
      type(oriel_target_piece), intent(in) :: target(*)
      integer(c_int), value :: target_count
      integer(c_int) :: rc
    end function
    function oriel_get_accumulatev(win, origin, origin_count, result, result_count, type, &
        op, target_rank, target, target_count) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      type(oriel_origin_piece), intent(in) :: origin(*)
      integer(c_int), value :: origin_count
      type(oriel_origin_piece), intent(in) :: result(*)
      integer(c_int), value :: result_count, type, op, target_rank
      type(oriel_target_piece), intent(in) :: target(*)
      integer(c_int), value :: target_count
      integer(c_int) :: rc
    end function
    function oriel_type_bytes(type) result(bytes) bind(c)
      import
      integer(c_int), value :: type
      integer(c_size_t) :: bytes
    end function
    function oriel_op_legal(op, type) result(rc) bind(c)
      import
      integer(c_int), value :: op, type
      integer(c_int) :: rc
    end function

    ! Completion and requests
    function oriel_win_flush(win, target_rank) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      integer(c_int) :: rc
    end function
    function oriel_win_flush_local(win, target_rank) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      integer(c_int) :: rc
    end function
    function oriel_win_iflush(win, target_rank, request) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      type(oriel_request), intent(out) :: request
      integer(c_int) :: rc
    end function
    function oriel_win_iflush_local(win, target_rank, request) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      type(oriel_request), intent(out) :: request
      integer(c_int) :: rc
    end function
    function oriel_request_wait(request) result(rc) bind(c)
      import
      type(oriel_request), intent(inout) :: request
      integer(c_int) :: rc
    end function
    function oriel_request_test(request, flag) result(rc) bind(c)
      import
      type(oriel_request), intent(inout) :: request
      integer(c_int), intent(out) :: flag
      integer(c_int) :: rc
    end function

    ! Epochs
    function oriel_win_post(win, group, assertions) result(rc) bind(c)
      import
      type(c_ptr), value :: win, group
      integer(c_int), value :: assertions
      integer(c_int) :: rc
    end function
    function oriel_win_start(win, group, assertions) result(rc) bind(c)
      import
      type(c_ptr), value :: win, group
      integer(c_int), value :: assertions
      integer(c_int) :: rc
    end function
    function oriel_win_complete(win) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int) :: rc
    end function
    function oriel_win_wait(win) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int) :: rc
    end function
    function oriel_win_test(win, flag) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), intent(out) :: flag
      integer(c_int) :: rc
    end function
    function oriel_win_fence(win, assertions) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: assertions
      integer(c_int) :: rc
    end function
    function oriel_win_lock(win, type, target_rank, assertions) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: type, target_rank, assertions
      integer(c_int) :: rc
    end function
    function oriel_win_unlock(win, target_rank) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      integer(c_int) :: rc
    end function
    function oriel_win_lock_all(win, assertions) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: assertions
      integer(c_int) :: rc
    end function
    function oriel_win_unlock_all(win) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int) :: rc
    end function
    function oriel_win_lock_orphaned(win, target_rank) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      integer(c_int) :: rc
    end function
    function oriel_win_sync(win) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int) :: rc
    end function

    ! Signals
    function oriel_signal(win, target_rank, signal, value, op) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int), value :: target_rank
      integer(c_int32_t), value :: signal
      integer(c_int64_t), value :: value
      integer(c_int), value :: op
      integer(c_int) :: rc
    end function
    function oriel_signal_wait(win, first, count, signal, value) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int32_t), value :: first, count
      integer(c_int32_t), intent(out) :: signal
      integer(c_int64_t), intent(out) :: value
      integer(c_int) :: rc
    end function
    function oriel_signal_test(win, first, count, signal, value, flag) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int32_t), value :: first, count
      integer(c_int32_t), intent(out) :: signal
      integer(c_int64_t), intent(out) :: value
      integer(c_int), intent(out) :: flag
      integer(c_int) :: rc
    end function
    function oriel_signal_until(win, signal, value) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int32_t), value :: signal
      integer(c_int64_t), value :: value
      integer(c_int) :: rc
    end function
    function oriel_signal_read(win, signal, value) result(rc) bind(c)
      import
      type(c_ptr), value :: win
      integer(c_int32_t), value :: signal
      integer(c_int64_t), intent(out) :: value
      integer(c_int) :: rc
    end function

    ! Errors
    function oriel_strerror(error) result(pointer) bind(c)
      import
      integer(c_int), value :: error
      type(c_ptr) :: pointer
    end function
    function oriel_last_error() result(pointer) bind(c)
      import
      type(c_ptr) :: pointer
    end function
  end interface

contains

  ! A C string as a Fortran string; empty for a null pointer
  function oriel_string(pointer) result(string)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: chars(:)
    interface
      function strlen(s) result(length) bind(c)
        import
        type(c_ptr), value :: s
        integer(c_size_t) :: length
      end function
    end interface
    integer :: i

    string = ''
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, chars, [strlen(pointer)])
    allocate (character(len=size(chars)) :: string)
    do i = 1, size(chars)
      string(i:i) = chars(i)
    end do
  end function

  ! What went wrong in this thread's last failed call
  function oriel_error_message() result(message)
    character(len=:), allocatable :: message

    message = oriel_string(oriel_last_error())
  end function

end module
