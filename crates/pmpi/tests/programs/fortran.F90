! Messages and collective operations of a program in Fortran; with -DF08 by the module of 2008.
#ifdef F08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define STATUSES(n) type(MPI_Status) :: statuses(n)
#define ONE_STATUS type(MPI_Status) :: status
#define FIRST statuses(1)
#else
#define REQUEST integer
#define COMM integer
#define STATUSES(n) integer :: statuses(MPI_STATUS_SIZE, n)
#define ONE_STATUS integer :: status(MPI_STATUS_SIZE)
#define FIRST statuses(:, 1)
#endif
program fortran
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: wide = 8
  interface
    function retime_now() bind(C, name="retime_now") result(time)
      use iso_c_binding
      integer(c_int64_t) :: time
    end function
  end interface
  integer :: rank, size, error, next, previous, i, total, count, index
  integer(wide) :: out(1500), in(1500), earlier
  logical :: flag
  REQUEST :: requests(2)
  ONE_STATUS
  STATUSES(2)
  COMM :: part

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  do i = 1, 50
    out = rank + i
    out(1) = retime_now()
    call MPI_Irecv(in, 1500, MPI_INTEGER8, previous, i, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 10 * i, MPI_INTEGER8, next, i, MPI_COMM_WORLD, requests(2), error)
    select case (mod(i, 3))
    case (0)
      call MPI_Waitall(2, requests, statuses, error)
      call MPI_Get_count(FIRST, MPI_INTEGER8, count, error)
      call expect(count == 10 * i, "a status tells another length")
    case (1)
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
      call expect(index == 1 .or. index == 2, "no request is complete")
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    case default
      flag = .false.
      do while (.not. flag)
        call MPI_Test(requests(1), flag, status, error)
      end do
      call MPI_Get_count(status, MPI_INTEGER8, count, error)
      call expect(count == 10 * i, "a status tells another length")
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
    end select
    call expect(in(2) == previous + i, "wrong data have arrived")
    call expect(retime_now() > in(1), "a message is received before it was sent")
    call MPI_Sendrecv(out, 3, MPI_INTEGER8, next, 0, in, 3, MPI_INTEGER8, previous, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect(in(3) == previous + i, "wrong data were exchanged")
    if (rank == 0) then
      call MPI_Send(out, 5, MPI_INTEGER8, size - 1, 7, MPI_COMM_WORLD, error)
    end if
    if (rank == size - 1) then
      call MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status, error)
      call MPI_Get_count(status, MPI_INTEGER8, count, error)
      call expect(count == 5, "a probe tells another length")
      call MPI_Recv(in, 1500, MPI_INTEGER8, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status, error)
    end if
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(total == size * (size - 1) / 2, "a sum is wrong")
    earlier = retime_now()
    call MPI_Bcast(earlier, 1, MPI_INTEGER8, mod(i, size), MPI_COMM_WORLD, error)
    call expect(retime_now() > earlier, "a broadcast is left before it began")
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, part, error)
  call MPI_Ibarrier(part, requests(1), error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  call MPI_Barrier(part, error)
  call MPI_Finalize(error)

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (.not. holds) then
      print *, "rank", rank, what
      call MPI_Abort(MPI_COMM_WORLD, 3, error)
    end if
  end subroutine

end program
