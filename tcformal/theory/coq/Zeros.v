(** Exponents of zeros that do not show, because where they are the largest nothing is cut off. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs.
Import ListNotations.
Open Scope Z_scope.

Lemma sum_zero_cut s f ts : fraction_bits s = Some f -> carry_bits s = None -> normalise s = false ->
  (forall x e a, In x ts -> is_zero x = true -> term_exponent s x = Some e -> In a ts -> is_zero a = false -> e - f <= lsb a) ->
  sum_numbers s ts = sum_numbers (with_zero s ZeroNone) ts.
Proof.
  intros F K Nn L. destruct (forallb is_zero ts) eqn:Az. { apply all_zeros; auto. now rewrite K. }
  set (s0 := with_zero s ZeroNone).
  assert (exists y, In y ts /\ is_zero y = false) as [y [Hy Ny]].
  { clear -Az. induction ts as [|a l IH]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *.
    - destruct IH as [y [? ?]]; auto. exists y; auto.
    - exists a; auto. }
  pose proof (largest_in s0 ts y Hy) as I0. unfold term_exponent in I0. rewrite Ny in I0. change (normalise s0) with (normalise s) in I0. rewrite Nn in I0.
  destruct (largest s0 ts) as [e0|] eqn:E0; [|easy].
  destruct (largest_attained s0 ts e0 E0) as [x0 [Hx0 T0]]. unfold term_exponent in T0. change (normalise s0) with (normalise s) in T0. rewrite Nn in T0.
  destruct (is_zero x0) eqn:Zx0; [easy|]. injection T0 as T0.
  pose proof (largest_in s ts x0 Hx0) as I1. unfold term_exponent in I1. rewrite Zx0, Nn in I1. destruct (largest s ts) as [e|] eqn:E; [|easy]. cbn in I1.
  destruct (largest_attained s ts e E) as [x [Hx T]].
  assert (U : unit_of s ts = e - f) by (unfold unit_of; now rewrite F, E).
  assert (U0 : unit_of s0 ts = e0 - f) by (unfold unit_of; change (fraction_bits s0) with (fraction_bits s); now rewrite F, E0).
  destruct (is_zero x) eqn:Zx.
  - destruct (Z.eq_dec e e0) as [Q|Q]; [apply sum_numbers_ext; auto; fold s0; congruence|].
    apply agreement; auto using no_carry_exact; unfold lossless; apply Forall_forall; intros a Ha Na; specialize (L x e a Hx Zx T Ha Na);
      fold s0; rewrite ?U, ?U0; lia.
  - unfold term_exponent in T. rewrite Zx, Nn in T. injection T as T. pose proof (largest_in s0 ts x Hx) as I2. unfold term_exponent in I2. rewrite Zx in I2. change (normalise s0) with (normalise s) in I2. rewrite Nn, E0 in I2. cbn in I2.
    apply sum_numbers_ext; auto. fold s0. rewrite U, U0. lia.
Qed.

(** A power of two that all terms are multiples of. *)
Definition least_unit (d : design) (s : sum) (t : facts) : Z :=
  Z.min (low t - bits t) (Z.min (least (start_format d) - fbits (start_format d)) (emin (out s) - (p (out s) + 1))).

Definition zero_cut_idle_ok (d : design) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => sound d s && negb (normalise s) && match carry_bits s with None => true | _ => false end &&
      match fraction_bits s, zero_exponent s with Some f, ZeroAt z => z - f <=? least_unit d s t | _, _ => false end
  | _, _ => false
  end.

Theorem zero_cut_idle d s w : sum_of d = Some s -> zero_cut_idle_ok d = true -> pairs w <> [] -> compute d w = compute (with_sum d (with_zero s ZeroNone)) w.
Proof.
  intros S O N. unfold zero_cut_idle_ok in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy]. repeat rewrite andb_true_iff in O. destruct O as [[[Sd Nn] K] O].
  apply negb_true_iff in Nn. destruct (carry_bits s) eqn:Ks; [easy|]. destruct (fraction_bits s) as [f|] eqn:F; [|easy]. destruct (zero_exponent s) as [| |z] eqn:Z; try easy.
  apply Z.leb_le in O. unfold sound in Sd. repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[ON PO] B] Oc] Kc] P] EM]. apply Z.leb_le in P, EM.
  set (s' := with_zero s ZeroNone). set (d' := with_sum d s').
  assert (S' : sum_of d' = Some s').
  { unfold sum_of in *. cbn. destruct (sums d) as [[?|]| | | | | | | |]; try easy. destruct (cutting_of d); try easy. now destruct (skips d). }
  set (C := fun v => forall x, v = Num x -> least_unit d s t <= lsb x).
  symmetry. apply (compute_alike d d' C); auto; [repeat split|lia| |].
  - intros b v Lb Hb Cv. rewrite (block_value_one d s _ _ S), (block_value_one d' s' _ _ S').
    change (block_products d' b) with (block_products d b). change (taken_c d' v) with (taken_c d v).
    pose proof (block_products_has d t b T Hb) as Hp. pose proof (term_facts_zero d t T) as Zt. split.
    + unfold sum_values. destruct (numbers (block_products d b ++ [taken_c d v])) as [ts|] eqn:Nu; auto.
      destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. rewrite Eu in Hp. apply has_numbers in Hp. symmetry.
      assert (Lu : Forall (fun y => z - f <= lsb y) (us ++ [x])).
      2: { apply (sum_zero_cut s f); auto. intros y e a _ Zy Te Ia _. unfold term_exponent in Te. rewrite Zy, Z in Te. injection Te as <-.
           rewrite Forall_forall in Lu. now apply Lu. }
      apply Forall_app. split.
      * eapply Forall_impl; [|exact Hp]. intros y [_ [By Ly]]. unfold lsb. unfold least_unit in O. lia.
      * constructor; [|constructor]. eapply Z.le_trans; [exact O|]. rewrite taken_kept in Ec by auto. destruct v as [y| |]; try easy. unfold flush in Ec.
        destruct (negb (is_subnormal y)); [injection Ec as <-; now apply Cv|]. specialize (Cv y eq_refl). destruct (c_rule d); try easy; injection Ec as <-; exact Cv.
    + intros x Hx. unfold sum_values in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x Hx)].
      destruct (convert_shape _ _ _ _ _ P EM Hx) as [[E1 _] Sh]. unfold least_unit, lsb. destruct Sh as [[-> _]|[-> _]]; lia.
  - intros x Hx. assert (Q : forall f0 word, format_ok f0 = true -> decode f0 word = Num x -> least f0 - fbits f0 <= lsb x).
    { intros f0 word Of D. destruct (decode_num _ _ _ Of D) as [_ [Fr [Le _]]]. unfold lsb. lia. }
    pose proof (Q _ _ Oc Hx). unfold least_unit. lia.
Qed.
