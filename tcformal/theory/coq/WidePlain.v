(** A design of [Wide.v] without the parameters that are its own computes what [Design.v] says. *)
From Coq Require Import ZArith List Bool Lia.
From TC Require Import Spec Design Designs Wide.
Import ListNotations.
Open Scope Z_scope.

(** A sum without these parameters. *)
Definition wide_of (s : stage) : wide_sum :=
  let d := match s with Stage d | FixedStage d _ => d end in
  {| term_bits := fraction_bits d; term_cut := By (alignment d); c_term_bits := None; c_term_cut := By (alignment d);
     second_bits := None; zeros_at := zero_exponent d; leading := normalise d; c_decides := true; room := carry_bits d;
     minus_one := None; cut_sum := None; becomes := Rounds (stage_rounding s) |}.

Fixpoint wide_tree (t : steps) : wide_steps :=
  match t with
  | Product k => WideProduct k
  | C => WideC
  | PlusZero => WideZero
  | Step s l => WideStep (wide_of s) (map wide_tree l)
  end.

(** Carry bits leave a sum of 0 as it is. *)
Definition room_for_zero (s : stage) : bool :=
  match s with Stage d | FixedStage d _ =>
    match carry_bits d, fraction_bits d with Some k, Some f => 0 <=? f + 1 + k | _, _ => true end end.

Fixpoint rooms (t : steps) : bool :=
  match t with Step s l => room_for_zero s && forallb rooms l | _ => true end.

Lemma wrap_zero w : 1 <= w -> wrap w 0 = 0.
Proof.
  intros W. unfold wrap. rewrite Z.mod_small; [lia|]. split; [apply Z.pow_nonneg; lia|].
  apply Z.pow_lt_mono_r; lia.
Qed.

Lemma zsum_zeros {A} (l : list A) : zsum (map (fun _ => 0) l) = 0.
Proof. induction l; simpl; auto. Qed.

Lemma round_exact m x k : k <= 0 -> round_div m x k = Z.shiftl x (- k).
Proof. intros K. unfold round_div. destruct (Z.leb_spec k 0); [reflexivity|lia]. Qed.

Lemma round_zero m k : round_div m 0 k = 0.
Proof.
  unfold round_div. destruct (k <=? 0); [apply Z.shiftl_0_l|]. rewrite Z.shiftr_0_l, Z.shiftl_0_l. reflexivity.
Qed.

Definition no_term : addend := {| number := zero_with_sign false; counts_at_zero := false; is_c := false |}.

Section Sum.
Variables (d : sum) (r : rounding) (s : wide_sum).
Hypothesis S : s = {| term_bits := fraction_bits d; term_cut := By (alignment d); c_term_bits := None;
  c_term_cut := By (alignment d); second_bits := None; zeros_at := zero_exponent d; leading := normalise d;
  c_decides := true; room := carry_bits d; minus_one := None; cut_sum := None; becomes := Rounds r |}.
Hypothesis W : match carry_bits d, fraction_bits d with Some k, Some f => 0 <=? f + 1 + k | _, _ => true end = true.
Variable l : list addend.
Hypothesis L : Forall (fun x => counts_at_zero x = false) l.
Let ts := map number l.

Lemma largest_plain : largest_in s l = largest d ts.
Proof.
  unfold largest_in, largest, ts. subst s. cbn [c_decides orb]. clear W.
  assert (F : filter (fun _ : addend => true) l = l) by (clear L; induction l as [|x k IH]; simpl; congruence).
  rewrite F. assert (E : map (exponent_in
    {| term_bits := fraction_bits d; term_cut := By (alignment d); c_term_bits := None; c_term_cut := By (alignment d);
       second_bits := None; zeros_at := zero_exponent d; leading := normalise d; c_decides := true; room := carry_bits d;
       minus_one := None; cut_sum := None; becomes := Rounds r |}) l = map (term_exponent d) (map number l)).
  { clear F. induction L as [|x k Q L' IH]; auto. cbn [map]. f_equal; auto. unfold exponent_in, term_exponent.
    cbn [leading zeros_at]. rewrite Q. now destruct (is_zero (number x)). }
  destruct l; [reflexivity|]. now rewrite E.
Qed.

Lemma none_is_zero : largest d ts = None -> Forall (fun x => signed x = 0) ts.
Proof.
  unfold largest. induction ts as [|x k IH]; intros N; constructor; cbn [map fold_right] in N.
  - destruct (is_zero x) eqn:Z0.
    + apply Z.eqb_eq in Z0. unfold signed. rewrite Z0. now destruct (neg x).
    + exfalso. unfold term_exponent at 1 in N. rewrite Z0 in N. destruct (fold_right omax None (map (term_exponent d) k)); discriminate N.
  - apply IH. destruct (fold_right omax None (map (term_exponent d) k)); auto.
    destruct (term_exponent d x); discriminate N.
Qed.

Lemma ended_plain : ended s l = plain (sum_at d r (unit_of d ts) ts).
Proof.
  unfold ended, sum_at. assert (B : becomes s = Rounds r) by now subst s. rewrite B. unfold summed. rewrite largest_plain.
  assert (T : term_bits s = fraction_bits d) by now subst s. rewrite T. unfold unit_of, held. destruct (fraction_bits d) as [f|] eqn:F.
  - destruct (largest d ts) as [e|] eqn:E.
    + assert (N : map (cut_term s e f (unit_bits s f l)) l = map (cut (alignment d) (e - f)) ts).
      { unfold ts. rewrite map_map. apply map_ext. intros x. subst s. unfold cut_term, unit_bits. cbn.
        replace (if is_c x then f else f) with f by now destruct (is_c x).
        replace (if is_c x then By (alignment d) else By (alignment d)) with (By (alignment d)) by now destruct (is_c x).
        cbn [term_div]. rewrite (round_exact _ _ (f - f)) by lia. rewrite Z.sub_diag. apply Z.shiftl_0_r. }
      assert (U : unit_bits s f l = f) by now subst s.
      rewrite N, U. subst s. cbn [room minus_one cut_sum]. unfold ts. now destruct (carry_bits d).
    + pose proof (none_is_zero E) as Z0.
      assert (N : map (cut (alignment d) 0) ts = map (fun _ => 0) l).
      { unfold ts in *. rewrite map_map. clear -Z0. induction l as [|x k IH]; auto. inversion Z0; subst. cbn [map].
        f_equal; auto. unfold cut. rewrite H1. apply round_zero. }
      rewrite N, zsum_zeros. destruct (carry_bits d) as [k|]; [|reflexivity].
      rewrite wrap_zero; [reflexivity|]. apply Z.leb_le in W. lia.
  - assert (N : map (fun x => cut RZ (least_lsb (map number l)) (number x)) l = map (cut (alignment d) (least_lsb ts)) ts).
    { unfold ts. rewrite map_map. apply map_ext_in. intros x I.
      assert (Q : least_lsb (map number l) <= lsb (number x)).
      { clear -I. unfold least_lsb. destruct l as [|y k]; [easy|]. cbn [map]. destruct I as [<-|I].
        - induction (map lsb (map number k)) as [|z q IH]; simpl; lia.
        - rewrite map_map. induction k as [|z q IH]; [easy|]. cbn [map fold_right]. destruct I as [<-|I]; [lia|]. specialize (IH I). lia. }
      unfold cut. rewrite !round_exact by lia. reflexivity. }
    rewrite N. now destruct (carry_bits d).
Qed.
End Sum.

Lemma numbers_of_all vs : forallb is_num vs = true -> numbers vs = Some (map num_of vs).
Proof. intros A. unfold numbers. now rewrite A. Qed.

(** One sum. *)
Theorem wide_sum_plain s (l : list (term * bool)) : room_for_zero s = true -> Forall (fun x => alive (fst x) = false) l ->
  add_wide (wide_of s) l = plain (add s (map (fun x => its (fst x)) l)).
Proof.
  intros W A. set (vs := map (fun x => its (fst x)) l). unfold add_wide. fold vs.
  assert (E : forall d r, match carry_bits d, fraction_bits d with Some k, Some f => 0 <=? f + 1 + k | _, _ => true end = true ->
    ended {| term_bits := fraction_bits d; term_cut := By (alignment d); c_term_bits := None; c_term_cut := By (alignment d);
      second_bits := None; zeros_at := zero_exponent d; leading := normalise d; c_decides := true; room := carry_bits d;
      minus_one := None; cut_sum := None; becomes := Rounds r |}
      (map (fun x => {| number := num_of (its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) l)
    = plain (sum_at d r (unit_of d (map num_of vs)) (map num_of vs))).
  { intros d r Q. rewrite (ended_plain d r _ eq_refl Q).
    - assert (M : map number (map (fun x => {| number := num_of (its (fst x)); counts_at_zero := alive (fst x); is_c := snd x |}) l) = map num_of vs)
        by (unfold vs; now rewrite !map_map). now rewrite M.
    - apply Forall_forall. intros x I. apply in_map_iff in I. destruct I as [y [<- I]]. rewrite Forall_forall in A. now apply A. }
  destruct (forallb is_num vs) eqn:N.
  - destruct s as [d|d x]; cbn [room_for_zero] in W; unfold wide_of; rewrite (E d _ W); f_equal; unfold add, on_numbers, sum_values;
      rewrite numbers_of_all by auto; reflexivity.
  - destruct s as [d|d x]; unfold add, on_numbers, sum_values, numbers; now rewrite N.
Qed.

(** A tree of sums. *)
Theorem wide_tree_plain r ps c t : rooms t = true -> eval_wide r (map plain ps) c (wide_tree t) = plain (eval_steps r ps c t).
Proof.
  revert t. fix IH 1. intros [k| | |s l] R; cbn [wide_tree eval_wide eval_steps]; try reflexivity.
  - now rewrite map_nth.
  - cbn [rooms] in R. apply andb_prop in R. destruct R as [W R].
    assert (E : map (fun x => let y := eval_wide r (map plain ps) c x in
        match x with
        | WideStep i _ => (if stays i then y else plain (flush r (its y)), false)
        | WideZero => (plain (zero_in (wide_of s)), false)
        | WideC => (y, true)
        | WideProduct _ => (y, false)
        end) (map wide_tree l) =
      map (fun x => (plain (let v := eval_steps r ps c x in
        match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding s) | _ => v end), match x with C => true | _ => false end)) l).
    { clear W. induction l as [|x l' IL]; [reflexivity|]. cbn [forallb] in R. apply andb_prop in R. destruct R as [R1 R2].
      rewrite !map_cons. f_equal; [|exact (IL R2)]. pose proof (IH x R1) as P. cbv zeta. rewrite P.
      now destruct x. }
    etransitivity; [apply f_equal; exact E|]. rewrite wide_sum_plain; auto.
    + f_equal. f_equal. rewrite map_map. reflexivity.
    + apply Forall_forall. intros x I. apply in_map_iff in I. now destruct I as [y [<- _]].
Qed.

(** A design in which nothing is its own: factors as they are, products or c not cut apart, and one block. *)
Definition all_plain (w : wide_design) (root : steps) : bool :=
  let d := base w in
  match operand_rounding w, a_taken w, b_taken w with None, None, None => true | _, _, _ => false end &&
  match cutting_of d with Whole => true | _ => false end && match nans d with OneWord => true | _ => false end &&
  match composed d, zero_terms (factors d) with None, None => true | _, _ => false end &&
  negb (odd_first d) && negb (skips d) && rooms root.

Lemma product_plain w x : operand_rounding w = None -> a_taken w = None -> b_taken w = None ->
  wide_product w x (scaled_by x) =
  plain (scaled_product (factors (base w)) (a_of (base w) x) (b_of (base w) x) (index x) (scaled_by x)).
Proof.
  intros O A B. unfold wide_product.
  assert (F : forall r v, wide_factor w r v = factor (factors (base w)) r v) by (intros; unfold wide_factor, factor; now rewrite O).
  rewrite !F. fold (a_of (base w) x) (b_of (base w) x). rewrite A, B. cbn [taken].
  destruct (a_of (base w) x), (b_of (base w) x); try reflexivity. unfold plain. f_equal.
  destruct (product_rounding _); cbn [andb]; auto. now destruct (nought _).
Qed.

(** One block of a design in which no parameter is Wide.v's own. *)
Theorem compute_wide_plain w root x : sums (base w) = InSteps root -> order w = wide_tree root -> all_plain w root = true ->
  (0 < length (pairs x) <= block (base w))%nat -> compute_wide w x = compute (base w) x.
Proof.
  intros S O P N. set (d := base w) in *. unfold all_plain in P. fold d in P.
  destruct (operand_rounding w) eqn:P1; [easy|]. destruct (a_taken w) eqn:P2; [easy|]. destruct (b_taken w) eqn:P3; [easy|].
  destruct (cutting_of d) eqn:P4; try easy. destruct (nans d) eqn:P5; try easy. destruct (composed d) eqn:P6; [easy|].
  destruct (zero_terms (factors d)) eqn:P7; [easy|]. destruct (odd_first d) eqn:P8; [easy|]. destruct (skips d) eqn:P9; [easy|].
  cbn [andb negb] in P. unfold compute_wide, compute. fold d. rewrite P6. cbv zeta. unfold blocks.
  assert (LE : length (elements d x) = length (pairs x)).
  { unfold elements. rewrite map_length. rewrite <- (map_length snd (numbered 0 (pairs x))), numbered_snd. reflexivity. }
  assert (CL : cut_list (length (elements d x)) (block d) (elements d x) = [elements d x]).
  { destruct (elements d x) as [|y l] eqn:E; [simpl in LE; lia|]. cbn [length cut_list] in *.
    rewrite firstn_all2 by (simpl; lia). rewrite skipn_all2 by (simpl; lia). now destruct (length l). }
  rewrite CL. cbn [fold_left]. unfold wide_block, block_step. fold d. rewrite P9. cbn [andb fst snd].
  unfold start_of. rewrite P5. rewrite P8, P7, zero_as_none. unfold wide_terms, terms. fold d. rewrite P4, S, O.
  assert (M : map (fun y => wide_product w y (scaled_by y)) (elements d x) =
    map plain (map (fun y => scaled_product (factors d) (a_of d y) (b_of d y) (index y) (scaled_by y)) (elements d x))).
  { rewrite map_map. apply map_ext. intros y. now rewrite product_plain. }
  rewrite M, (wide_tree_plain _ _ _ _ P). cbn [its plain block_sum].
  match goal with |- encode _ _ ?v = _ => set (r := v) end. destruct (is_nan r) eqn:Q; cbn [negb]; [reflexivity|now apply encode_not_nan].
Qed.
