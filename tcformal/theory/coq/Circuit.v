(** Circuits: bit-vector DAGs as data, what they compute, and claims about their nodes.

    A unit's circuit is a list of nodes.  A claim is a formula over integers whose variables are nodes; that it holds
    for all inputs is decided outside (SAT, with a checked certificate) and is a hypothesis here.  [Stages.v] says
    which claims make a circuit compute what a design of the specification computes. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From TC Require Import Bv.
Import ListNotations.
Open Scope Z_scope.

(** * Nodes *)

(** An operator of the vocabulary on nodes, with the widths that its meaning depends on. *)
Inductive operator :=
  | Input
  | Const (v : Z)
  | Not (a : positive)
  | And (a b : positive)
  | Or (a b : positive)
  | Xor (a b : positive)
  | Add (a b : positive)
  | Sub (a b : positive)
  | Neg (a : positive)
  | Mul (a b : positive)
  | Shl (a b : positive)
  | Lshr (a b : positive)
  | Ashr (a b : positive)
  | Eq (a b : positive)
  | Ult (a b : positive)
  | Ule (a b : positive)
  | Slt (a b : positive)
  | Sle (a b : positive)
  | Ite (c a b : positive)
  | Concat (a b : positive)
  | Extract (low : Z) (a : positive)
  | Zext (a : positive)
  | Sext (a : positive).

(** A node: its name, its width, its operator. *)
Record node := Node { name : positive; width : Z; operation : operator }.

Definition circuit := list node.

Definition env := positive -> Z.
Definition widths := PositiveMap.t Z.

Definition widths_of (c : circuit) : widths :=
  fold_left (fun m n => PositiveMap.add (name n) (width n) m) c (PositiveMap.empty Z).

Definition width_in (m : widths) (i : positive) : Z := match PositiveMap.find i m with Some w => w | None => 0 end.

(** The value of an operator on the values of its arguments. *)
Definition meaning (m : widths) (n : node) (v : env) : Z :=
  let w := width n in
  let wd := width_in m in
  match operation n with
  | Input => v (name n)
  | Const x => x
  | Not a => bnot w (v a)
  | And a b => band (v a) (v b)
  | Or a b => bor (v a) (v b)
  | Xor a b => bxor (v a) (v b)
  | Add a b => badd w (v a) (v b)
  | Sub a b => bsub w (v a) (v b)
  | Neg a => bneg w (v a)
  | Mul a b => bmul (v a) (v b)
  | Shl a b => bshl w (v a) (v b)
  | Lshr a b => blshr w (v a) (v b)
  | Ashr a b => bashr w (v a) (v b)
  | Eq a b => beq (v a) (v b)
  | Ult a b => bult (v a) (v b)
  | Ule a b => bule (v a) (v b)
  | Slt a b => bslt (wd a) (v a) (v b)
  | Sle a b => bsle (wd a) (v a) (v b)
  | Ite c a b => bite (v c) (v a) (v b)
  | Concat a b => bcat (wd b) (v a) (v b)
  | Extract low a => bext w low (v a)
  | Zext a => bzext (v a)
  | Sext a => bsext (wd a) w (v a)
  end.

(** Values of all nodes that agree with their operators; those of inputs fit their widths. *)
Definition solution (c : circuit) (v : env) : Prop :=
  Forall (fun n => v (name n) = meaning (widths_of c) n v /\ (operation n = Input -> inw (width n) (v (name n)))) c.

(** ** Every value fits its width *)

Definition node_ok (m : widths) (n : node) : bool :=
  let w := width n in
  let wd := width_in m in
  (1 <=? w) && (wd (name n) =? w) &&
  match operation n with
  | Input => true
  | Const x => (0 <=? x) && (x <? 2 ^ w)
  | Not a | Neg a => wd a =? w
  | And a b | Or a b | Xor a b | Add a b | Sub a b => (wd a =? w) && (wd b =? w)
  | Shl a b | Lshr a b | Ashr a b => (wd a =? w) && (1 <=? wd b)
  | Mul a b | Concat a b => (1 <=? wd a) && (1 <=? wd b) && (wd a + wd b =? w)
  | Eq a b | Ult a b | Ule a b | Slt a b | Sle a b => (w =? 1) && (1 <=? wd a) && (wd a =? wd b)
  | Ite c a b => (wd c =? 1) && (wd a =? w) && (wd b =? w)
  | Extract low a => (0 <=? low) && (low + w <=? wd a)
  | Zext a | Sext a => (1 <=? wd a) && (wd a <=? w)
  end.

(** The nodes that an operator reads. *)
Definition reads (o : operator) : list positive :=
  match o with
  | Input | Const _ => []
  | Not a | Neg a | Extract _ a | Zext a | Sext a => [a]
  | And a b | Or a b | Xor a b | Add a b | Sub a b | Mul a b | Shl a b | Lshr a b | Ashr a b
  | Eq a b | Ult a b | Ule a b | Slt a b | Sle a b | Concat a b => [a; b]
  | Ite c a b => [c; a; b]
  end.

(** Names ascend, and every argument is an earlier node. *)
Fixpoint ordered (known : PositiveMap.t unit) (last : positive) (c : circuit) : bool :=
  match c with
  | [] => true
  | n :: r =>
      (last <? name n)%positive && forallb (fun a => PositiveMap.mem a known) (reads (operation n)) &&
      ordered (PositiveMap.add (name n) tt known) (name n) r
  end.

Definition circuit_ok (c : circuit) : bool :=
  ordered (PositiveMap.empty unit) 1 c && forallb (node_ok (widths_of c)) c.

(** A value in the range of its node. *)
Definition fits (m : widths) (v : env) (i : positive) : Prop := inw (width_in m i) (v i).

Lemma node_fits m n v : node_ok m n = true -> v (name n) = meaning m n v -> (operation n = Input -> inw (width n) (v (name n))) ->
  (forall a, In a (reads (operation n)) -> fits m v a) -> fits m v (name n).
Proof.
  unfold node_ok, fits. intros K E I A. rewrite !andb_true_iff, Z.leb_le, Z.eqb_eq in K. destruct K as [[W N] K].
  rewrite N. rewrite E. unfold meaning. destruct (operation n) eqn:O; simpl in A;
    rewrite ?andb_true_iff, ?Z.leb_le, ?Z.ltb_lt, ?Z.eqb_eq in K.
  - exact (I eq_refl).
  - exact K.
  - apply in_not. rewrite <- K. auto.
  - destruct K as [K1 K2]. apply in_and; [lia| |]; [rewrite <- K1|rewrite <- K2]; auto.
  - destruct K as [K1 K2]. apply in_or; [lia| |]; [rewrite <- K1|rewrite <- K2]; auto.
  - destruct K as [K1 K2]. apply in_xor; [lia| |]; [rewrite <- K1|rewrite <- K2]; auto.
  - apply in_add; lia.
  - apply in_sub; lia.
  - apply in_neg; lia.
  - destruct K as [[K1 K2] K3]. rewrite <- K3. apply in_mul; try lia; auto.
  - apply in_shl; lia.
  - destruct K as [K1 K2]. apply in_lshr; [apply (A b); auto|]. rewrite <- K1. auto.
  - apply in_ashr; lia.
  - destruct K as [[-> _] _]. apply in_eq.
  - destruct K as [[-> _] _]. apply in_ult.
  - destruct K as [[-> _] _]. apply in_ule.
  - destruct K as [[-> _] _]. apply in_slt.
  - destruct K as [[-> _] _]. apply in_sle.
  - destruct K as [[K1 K2] K3]. apply in_ite; [rewrite <- K2|rewrite <- K3]; auto.
  - destruct K as [[K1 K2] K3]. rewrite <- K3. apply in_cat; try lia; auto.
  - apply in_ext; lia.
  - destruct K as [K1 K2]. apply in_zext with (width_in m a); [lia|auto].
  - apply in_sext; lia.
Qed.

Theorem solution_fits c v : circuit_ok c = true -> solution c v -> forall i, In i (map name c) -> fits (widths_of c) v i.
Proof.
  unfold circuit_ok, solution. rewrite andb_true_iff. intros [O K] S. revert K S. generalize (widths_of c). intros m K S.
  assert (G : forall known last, (forall a, PositiveMap.mem a known = true -> fits m v a) -> ordered known last c = true ->
    forall i, In i (map name c) -> fits m v i).
  { clear O. induction c as [|n r IH]; intros known last Q O; simpl in *; [easy|].
    rewrite !andb_true_iff in O. destruct O as [[_ O1] O2]. rewrite andb_true_iff in K. destruct K as [K1 K2].
    inversion S as [|? ? [E I] S']; subst.
    assert (F : fits m v (name n)).
    { apply node_fits; auto. intros a H. apply Q. rewrite forallb_forall in O1. now apply O1. }
    intros i [<-|H]; auto. apply (IH K2 S' (PositiveMap.add (name n) tt known) (name n)); auto. intros a. rewrite PositiveMap.mem_find.
    destruct (Pos.eq_dec a (name n)) as [->|D]; auto. rewrite PositiveMap.gso by easy. rewrite <- PositiveMap.mem_find. apply Q. }
  apply (G (PositiveMap.empty unit) 1%positive); auto. intros a. rewrite PositiveMap.mem_find, PositiveMap.gempty. easy.
Qed.

(** * Running a circuit *)

Definition put (v : env) (i : positive) (x : Z) : env := fun j => if (j =? i)%positive then x else v j.

Definition run (c : circuit) (inputs : env) : env :=
  fold_left (fun v n => put v (name n) (meaning (widths_of c) n v)) c inputs.

Lemma meaning_ext m n v w : (operation n = Input -> v (name n) = w (name n)) -> (forall a, In a (reads (operation n)) -> v a = w a) ->
  meaning m n v = meaning m n w.
Proof. unfold meaning. destruct (operation n); simpl; intros I A; rewrite ?(A a), ?(A b), ?(A c) by auto; auto. Qed.

Theorem run_solution c v : circuit_ok c = true -> (forall n, In n c -> operation n = Input -> inw (width n) (v (name n))) ->
  solution c (run c v) /\ (forall n, In n c -> operation n = Input -> run c v (name n) = v (name n)).
Proof.
  unfold circuit_ok, solution, run. rewrite andb_true_iff. intros [O _]. generalize (widths_of c). intros m.
  set (step := fun v n => put v (name n) (meaning m n v)).
  assert (G : forall known last w, (forall n, In n c -> operation n = Input -> inw (width n) (w (name n))) ->
     (forall a, PositiveMap.mem a known = true -> (a <= last)%positive) -> ordered known last c = true ->
     let u := fold_left step c w in
     (forall a, (a <= last)%positive -> u a = w a) /\ (forall n, In n c -> operation n = Input -> u (name n) = w (name n)) /\
     Forall (fun n => u (name n) = meaning m n u /\ (operation n = Input -> inw (width n) (u (name n)))) c).
  { clear. induction c as [|n r IH]; intros known last w I Q O; simpl in *.
    - repeat split; auto.
    - rewrite !andb_true_iff, Pos.ltb_lt in O. destruct O as [[L O1] O2]. set (w' := step w n).
      assert (W' : forall a, a <> name n -> w' a = w a) by (intros a D; unfold w', step, put; now rewrite (proj2 (Pos.eqb_neq _ _) D)).
      assert (Wn : w' (name n) = meaning m n w) by (unfold w', step, put; now rewrite Pos.eqb_refl).
      assert (Wi : operation n = Input -> w' (name n) = w (name n)) by (intros J; rewrite Wn; unfold meaning; now rewrite J).
      destruct (IH (PositiveMap.add (name n) tt known) (name n) w') as [A [B C]]; auto.
      + intros k H J. specialize (I k (or_intror H) J). destruct (Pos.eq_dec (name k) (name n)) as [E|E].
        * rewrite E in *. rewrite Wn. unfold meaning.
          (* an input of the rest has a name that ascends *)
          exfalso. clear -O2 H E. assert (X : forall r known last, ordered known last r = true -> forall k, In k r -> (last < name k)%positive).
          { clear. induction r as [|x r IH]; intros known last O k H; simpl in *; [easy|]. rewrite !andb_true_iff, Pos.ltb_lt in O.
            destruct O as [[L _] O2], H as [<-|H]; auto. specialize (IH _ _ O2 k H). eapply Pos.lt_trans; eauto. }
          specialize (X _ _ _ O2 k H). rewrite E in X. now apply Pos.lt_irrefl in X.
        * now rewrite W'.
      + intros a. rewrite PositiveMap.mem_find. destruct (Pos.eq_dec a (name n)) as [->|D]; [reflexivity|].
        rewrite PositiveMap.gso, <- PositiveMap.mem_find by easy. intros H. apply Q in H. apply Pos.lt_le_incl. now apply Pos.le_lt_trans with last.
      + assert (U : forall a, (a <= last)%positive -> fold_left step r w' a = w a).
        { intros a H. rewrite A by (apply Pos.lt_le_incl; now apply Pos.le_lt_trans with last). apply W'. intros ->. apply (Pos.lt_irrefl (name n)).
          now apply Pos.le_lt_trans with last. }
        assert (Un : fold_left step r w' (name n) = w' (name n)) by (apply A, Pos.le_refl).
        repeat split.
        * exact U.
        * intros k [<-|H] J; [rewrite Un; now apply Wi|]. rewrite B by auto. apply W'. intros E.
          assert (X : forall r known last, ordered known last r = true -> forall k, In k r -> (last < name k)%positive).
          { clear. induction r as [|x r IH]; intros known last O k H; simpl in *; [easy|]. rewrite !andb_true_iff, Pos.ltb_lt in O.
            destruct O as [[L _] O2], H as [<-|H]; auto. specialize (IH _ _ O2 k H). eapply Pos.lt_trans; eauto. }
          specialize (X _ _ _ O2 k H). rewrite E in X. now apply Pos.lt_irrefl in X.
        * constructor; [|exact C]. rewrite Un. split.
          -- rewrite Wn. apply meaning_ext.
             ++ intros J. rewrite Un. symmetry. now apply Wi.
             ++ intros a H. symmetry. apply U. apply Q. rewrite forallb_forall in O1. now apply O1.
          -- intros J. rewrite Wi by easy. apply I; auto. }
  intros I. destruct (G (PositiveMap.empty unit) 1%positive v I) as [_ [B C]]; auto.
  intros a. rewrite PositiveMap.mem_find, PositiveMap.gempty. easy.
Qed.

(** * Claims *)

(** Integers over the values of nodes. *)
Inductive term :=
  | Num_ (z : Z)
  | U (i : positive)                   (** a node's value *)
  | Sg (i : positive)                  (** in two's complement *)
  | Plus (a b : term)
  | Minus (a b : term)
  | Times (a b : term)
  | Shift (a b : term)                 (** [a * 2^b]; 0 where [b] is negative *)
  | Low (a b : term)                   (** the smaller one *)
  | Abs (a : term)
  | Bits (low count : Z) (a : term)    (** [count] bits of a value that is not negative *)
  | If (c : formula) (a b : term)
with formula :=
  | Is (i : positive)                  (** a node of one bit is 1 *)
  | Equal (a b : term)
  | Less (a b : term)
  | AtMost (a b : term)
  | Negation (c : formula)
  | Both (c d : formula)
  | Either (c d : formula).

Fixpoint value (m : widths) (v : env) (t : term) : Z :=
  match t with
  | Num_ z => z
  | U i => v i
  | Sg i => sg (width_in m i) (v i)
  | Plus a b => value m v a + value m v b
  | Minus a b => value m v a - value m v b
  | Times a b => value m v a * value m v b
  | Shift a b => value m v a * 2 ^ value m v b
  | Low a b => Z.min (value m v a) (value m v b)
  | Abs a => Z.abs (value m v a)
  | Bits low count a => (value m v a / 2 ^ low) mod 2 ^ count
  | If c a b => if truth m v c then value m v a else value m v b
  end
with truth (m : widths) (v : env) (f : formula) : bool :=
  match f with
  | Is i => v i =? 1
  | Equal a b => value m v a =? value m v b
  | Less a b => value m v a <? value m v b
  | AtMost a b => value m v a <=? value m v b
  | Negation c => negb (truth m v c)
  | Both c d => truth m v c && truth m v d
  | Either c d => truth m v c || truth m v d
  end.

(** The goal is true wherever all that is given is. *)
Record claim := Claim { given : list formula; goal : formula }.

Definition holds (c : circuit) (q : claim) : Prop :=
  forall v, solution c v -> forallb (truth (widths_of c) v) (given q) = true -> truth (widths_of c) v (goal q) = true.

(** Whether two lists of claims are the same.  What is compared is walked and never written out: a term that shares its
    parts is as large as its tree only in time. *)
Fixpoint term_eqb (a b : term) {struct a} : bool :=
  match a, b with
  | Num_ x, Num_ y => x =? y
  | U i, U j | Sg i, Sg j => (i =? j)%positive
  | Plus a b, Plus c d | Minus a b, Minus c d | Times a b, Times c d | Shift a b, Shift c d | Low a b, Low c d => term_eqb a c && term_eqb b d
  | Abs a, Abs c => term_eqb a c
  | Bits i j a, Bits k l c => (i =? k) && (j =? l) && term_eqb a c
  | If f a b, If g c d => formula_eqb f g && term_eqb a c && term_eqb b d
  | _, _ => false
  end
with formula_eqb (f g : formula) {struct f} : bool :=
  match f, g with
  | Is i, Is j => (i =? j)%positive
  | Equal a b, Equal c d | Less a b, Less c d | AtMost a b, AtMost c d => term_eqb a c && term_eqb b d
  | Negation f, Negation g => formula_eqb f g
  | Both a b, Both c d | Either a b, Either c d => formula_eqb a c && formula_eqb b d
  | _, _ => false
  end.

Scheme term_mutual := Induction for term Sort Prop with formula_mutual := Induction for formula Sort Prop.
Combined Scheme both_mutual from term_mutual, formula_mutual.

Lemma eqb_is : (forall a b, term_eqb a b = true -> a = b) /\ (forall f g, formula_eqb f g = true -> f = g).
Proof.
  apply both_mutual; intros; match goal with H : _ ?a ?b = true |- _ => destruct b; try discriminate H; cbn [term_eqb formula_eqb] in H end;
    rewrite ?andb_true_iff, ?Z.eqb_eq, ?Pos.eqb_eq in *; repeat match goal with H : _ /\ _ |- _ => destruct H end; f_equal; auto.
Qed.

Fixpoint formulas_eqb (l r : list formula) : bool :=
  match l, r with [], [] => true | f :: l, g :: r => formula_eqb f g && formulas_eqb l r | _, _ => false end.
Fixpoint claims_eqb (l r : list claim) : bool :=
  match l, r with [], [] => true | p :: l, q :: r => formulas_eqb (given p) (given q) && formula_eqb (goal p) (goal q) && claims_eqb l r | _, _ => false end.

Lemma formulas_are l : forall r, formulas_eqb l r = true -> l = r.
Proof. induction l as [|f l IH]; destruct r as [|g r]; try easy. cbn. rewrite andb_true_iff. intros [A B]. f_equal; auto. now apply eqb_is. Qed.
Lemma claims_are l : forall r, claims_eqb l r = true -> l = r.
Proof.
  induction l as [|[f a] l IH]; destruct r as [|[g b] r]; try easy. cbn. rewrite !andb_true_iff. intros [[A B] C].
  f_equal; auto. f_equal; [now apply formulas_are|now apply eqb_is].
Qed.
